"""Windows and panes through libtmux: what it must not do to words, errors, time and start-up."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import libtmux
import pytest

from cockpit.adapters.tmux.command import NoSession, ServerGone
from cockpit.adapters.tmux.lifecycle import Lifecycle
from cockpit.adapters.tmux.panes import Tmux
from cockpit.adapters.tmux.server import NEW_SESSION
from cockpit.adapters.tmux.views import TmuxViews
from cockpit.core.errors import OsProblem
from cockpit.core.ids import PaneId
from cockpit.ports.panes import Launch, PaneGone, PaneOccupied, PanesSilent

if TYPE_CHECKING:
    from tests.adapters.conftest import Terminal, Waiting

pytestmark = pytest.mark.tmux

OpenTerminal = Callable[..., "Terminal"]

AWKWARD = (
    "-x", "--", ";", "a;", "\\;", "#{pid}", "#(touch X)", "{", "}", "'", '"', "$HOME", "`touch X`",
    "a b", "", "two\nlines", "ü",
)  # fmt: skip
TITLE_OF_MANY_FIELDS = "printf '\\033]2;a\\342\\220\\236b\\007'; echo ready; exec sleep 600"
"""Gives the pane a title with the character that libtmux puts between two fields."""


def launch(directory: Path, *argv: str) -> Launch:
    home = os.environ["HOME"]
    environment = {"PATH": os.environ["PATH"], "HOME": home, "COCKPIT_RUN": home}
    return Launch(argv or ("sleep", "600"), directory, environment)


def written_down(file: Path) -> list[str]:
    """A program that writes its arguments into a file, with NUL between them."""
    code = f"import sys; open({str(file)!r}, 'w').write('\\0'.join(sys.argv[1:]))"
    return [sys.executable, "-I", "-S", "-c", code, *AWKWARD]


@contextmanager
def stopped(process: int) -> Iterator[None]:
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


async def test_every_word_reaches_a_program_as_it_is(
    tmux: Tmux, own_home: Path, waiting: Waiting
) -> None:
    await tmux.start_server()
    lifecycle = Lifecycle(tmux.command)
    new, again = own_home / "new", own_home / "again"

    (line,) = lifecycle.new_window("api", written_down(new), ["display-message", "-p", "then"])

    assert line == "then"
    await waiting.until(lambda: new.exists() and tuple(new.read_text().split("\0")) == AWKWARD)
    (pane,) = tmux.command.call(["list-panes", "-t", "=cockpit:{end}", "-F", "#{pane_id}"])
    await waiting.until(
        lambda: tmux.command.call(["list-panes", "-t", pane, "-F", "#{pane_dead}"]) == ["1"]
    )
    lifecycle.respawn(PaneId(pane), written_down(again))
    await waiting.until(lambda: again.exists() and tuple(again.read_text().split("\0")) == AWKWARD)
    assert not list(own_home.rglob("X"))


async def test_a_title_cannot_pass_for_more_fields(
    tmux: Tmux, own_home: Path, waiting: Waiting
) -> None:
    """Why nothing is listed with libtmux: any program could keep every pane from being listed."""

    hostile = await tmux.open("a", launch(own_home, "/bin/sh", "-c", TITLE_OF_MANY_FIELDS))
    await waiting.shows(tmux, hostile.id, "ready")
    with pytest.raises(ValueError, match="zip"):
        _ = libtmux.Server(socket_path=str(tmux.command.socket)).panes
    await tmux.processes.end(tmux.processes.identify(hostile.pid), "", patience=0.2)
    again = await tmux.reopen(hostile.id, launch(own_home, "true"))
    other = await tmux.open("b", launch(own_home))
    assert set(await tmux.look()) == {hostile.id, other.id}
    ended = tmux.processes.identify(again.pid)
    assert ended is None or await tmux.processes.wait_for_end(ended, 10)
    await tmux.close(hostile.id)
    assert set(await tmux.look()) == {other.id}


async def test_a_server_that_does_not_answer_holds_no_step_up(tmux: Tmux, own_home: Path) -> None:
    pane = (await tmux.open("api", launch(own_home))).id
    server = await tmux.server_pid()
    assert server is not None
    lifecycle = Lifecycle(replace(tmux.command, deadline=0.3))

    with stopped(server):
        for step in (
            lambda: lifecycle.new_window("api", ["true"]),
            lambda: lifecycle.respawn(pane, ["true"]),
            lambda: lifecycle.kill_pane(pane),
            lambda: lifecycle.restore_session(*NEW_SESSION),
        ):
            begun = time.monotonic()
            with pytest.raises(PanesSilent, match="does not answer"):
                step()
            assert time.monotonic() - begun < 30  # also on a busy machine


async def test_an_error_is_never_an_empty_answer(tmux: Tmux, own_home: Path) -> None:
    lifecycle = Lifecycle(tmux.command)
    with pytest.raises(ServerGone):
        lifecycle.new_window("api", ["true"])
    assert not tmux.command.socket.exists(), "a step starts no server"
    pane = (await tmux.open("api", launch(own_home))).id

    with pytest.raises(PaneOccupied):
        lifecycle.respawn(pane, ["true"])
    with pytest.raises(PaneGone):
        lifecycle.respawn(PaneId("%99"), ["true"])
    with pytest.raises(PaneGone):
        lifecycle.kill_pane(PaneId("%99"))
    tmux.command.call(["kill-session", "-t", "=cockpit"])
    with pytest.raises(NoSession):
        lifecycle.new_window("api", ["true"])


async def test_no_other_tmux_on_the_path_of_this_process_is_run(
    tmux: Tmux, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = own_home / "other"
    other.mkdir()
    (other / "tmux").write_text(f"#!/bin/sh\ntouch {own_home}/ran\n")
    (other / "tmux").chmod(0o700)
    pane = (await tmux.open("api", launch(own_home))).id
    monkeypatch.setenv("PATH", str(other), prepend=os.pathsep)
    lifecycle = Lifecycle(tmux.command)

    lifecycle.new_window("web", ["sleep", "600"])
    with pytest.raises(PaneOccupied):
        lifecycle.respawn(pane, ["true"])
    lifecycle.kill_pane(pane)

    assert await tmux.look() == {}
    assert not (own_home / "ran").exists()


async def test_a_session_that_was_closed_keeps_the_windows_that_somebody_looks_at(
    tmux: Tmux, own_home: Path, waiting: Waiting, terminal: OpenTerminal
) -> None:
    views = TmuxViews(tmux)
    pane = await tmux.open("api", launch(own_home))
    terminal(await views.attach_command(pane.id))
    await waiting.until(views.attached)
    tmux.command.call(["kill-session", "-t", "=cockpit"])
    other = await tmux.open("web", launch(own_home))
    assert set(await tmux.look()) == {pane.id, other.id}
    groups = tmux.command.call(["list-sessions", "-F", "#{session_group}"])
    assert groups == ["cockpit", "cockpit"]


async def test_libtmux_is_loaded_for_agents_and_not_for_a_first_screen(
    tmux: Tmux, own_home: Path
) -> None:
    program = """
import asyncio, sys
from pathlib import Path
from cockpit.adapters.tmux.panes import Tmux
from cockpit.adapters.tmux.views import TmuxViews
from cockpit.ports.panes import Launch
folder, path = sys.argv[1:]
tmux = Tmux(Path(folder) / "t.sock", Path(folder) / "t.conf", {"PATH": path, "HOME": folder})
views = TmuxViews(tmux)
launch = Launch(("sleep", "600"), Path(folder), {"PATH": path, "COCKPIT_RUN": sys.argv[0]})
async def main():
    await tmux.start_server()
    home = await views.open_home(launch)
    await views.attach_command()
    await tmux.start_server(), await tmux.server_pid(), await tmux.home_pid(), await tmux.look()
    await tmux.capture(home), await tmux.press(home, "Enter"), await tmux.paste(home, "x")
    await views.attached(), await views.needs_own_screen({})
    print("libtmux" in sys.modules)
    await tmux.prepare()
    print("libtmux" in sys.modules)
    await tmux.stop_server()
asyncio.run(main())
"""
    folder = own_home / "alone"
    folder.mkdir()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program, str(folder), os.environ["PATH"]),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    output, errors = await process.communicate()
    assert output.split() == [b"False", b"True"], errors.decode()


async def test_an_installation_that_went_away_is_told_and_nothing_is_started(
    tmux: Tmux, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tmux.start_server()
    monkeypatch.setitem(sys.modules, "libtmux", None)
    monkeypatch.delitem(sys.modules, "cockpit.adapters.tmux.lifecycle")

    with pytest.raises(OsProblem, match="Cannot load libtmux") as refused:
        await tmux.prepare()
    assert "cockpit restart" in refused.value.hint
    with pytest.raises(OsProblem):
        await tmux.open("api", launch(own_home))

    assert await tmux.look() == {}
    monkeypatch.undo()
    await tmux.open("api", launch(own_home))
