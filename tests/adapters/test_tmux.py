"""Panes of a real, private tmux server."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.adapters.process import process_table
from cockpit.adapters.tmux.panes import Tmux
from cockpit.core.errors import BadUsage
from cockpit.core.ids import PaneId
from cockpit.ports.panes import Launch, Pane, PaneGone, PaneOccupied, Panes

if TYPE_CHECKING:
    from tests.adapters.conftest import Waiting

pytestmark = pytest.mark.tmux

READER = ("/bin/sh", "-c", "stty -echo; echo ready; exec cat -A")
"""Shows what it is given, control bytes in letters."""

OFF = "#{pane_input_off}"

DEAF = ("/bin/sh", "-c", 'trap "" HUP TERM; echo ready; while :; do sleep 60; done')


def launch(directory: Path, *argv: str, prompt: str | None = None) -> Launch:
    home = os.environ["HOME"]
    environment = {"PATH": os.environ["PATH"], "HOME": home, "COCKPIT_RUN": home}
    return Launch(argv or READER, directory, environment, prompt)


async def ended(tmux: Tmux, pane: Pane) -> None:
    marker = os.environ["HOME"]
    ending = await tmux.processes.end(tmux.processes.identify(pane.pid), marker, patience=0.2)
    assert ending.gone


async def test_nothing_runs_until_it_is_asked_for(tmux: Tmux) -> None:
    panes: Panes = tmux

    assert await panes.look() == {}
    assert await panes.server_pid() is None
    with pytest.raises(PaneGone):
        await panes.capture(PaneId("%0"))
    await panes.close(PaneId("%0"))
    await panes.stop_server()
    assert not tmux.command.socket.exists()


async def test_an_agent_opens_with_everything_it_was_given(
    tmux: Tmux, own_home: Path, waiting: Waiting
) -> None:
    work = own_home / "work tree #(touch X);"
    work.mkdir()
    said = 'printf "[%s]" "$@"; echo; pwd; env; echo over; exec sleep 600'
    order = launch(work, "/bin/sh", "-c", said, "sh", prompt="-x #(touch X)\n'$(touch X)';")
    order = replace(order, environment={**order.environment, "TMUX": "x", "OWN": "#{pid};"})

    pane = await tmux.open("api", order)
    assert (pane.label, pane.dead, pane.exit_status) == ("api", False, None)
    text = await waiting.shows(tmux, pane.id, "over")
    assert "[--][-x #(touch X)\n'$(touch X)';]" in text
    assert str(work) in text
    variables = {line.partition("=")[0] for line in text.splitlines() if "=" in line}
    assert variables == {"PATH", "HOME", "COCKPIT_RUN", "OWN", "PWD", "TERM", "COLORTERM"}
    assert "COLORTERM=truecolor" in text
    assert "OWN=#{pid};" in text
    assert await tmux.look() == {pane.id: pane}
    entry = process_table.entry(pane.pid)
    assert entry is not None
    assert entry.parent == await tmux.server_pid()
    assert not list(own_home.rglob("X"))


async def test_a_pane_that_somebody_split_by_hand_is_not_ours(tmux: Tmux, own_home: Path) -> None:
    pane = await tmux.open("api", launch(own_home))
    await tmux.command.run(["split-window", "-d", "-t", pane.id, "--", "sleep", "600"])
    await tmux.command.run(["rename-window", "-t", pane.id, "elsewhere"])
    assert {one.label for one in (await tmux.look()).values()} == {"api"}


@pytest.mark.long
async def test_fifty_opened_at_once_are_fifty(tmux: Tmux, own_home: Path) -> None:
    names = [f"agent-{number}" for number in range(50)]
    order = launch(own_home, "sleep", "600")
    panes = await asyncio.gather(*(tmux.open(name, order) for name in names))
    assert len({pane.id for pane in panes}) == 50
    assert [pane.label for pane in panes] == names
    seen = await tmux.look()
    assert {pane.id: pane.label for pane in panes} == {
        key: pane.label for key, pane in seen.items()
    }


@pytest.mark.parametrize(
    "label", ["", "#(touch X)", "a b", "-d", "a;", "a\n", "ü", "a" * 101, "\x1b"]
)
async def test_a_label_that_tmux_could_misread_is_refused(
    tmux: Tmux, own_home: Path, label: str
) -> None:
    with pytest.raises(BadUsage):
        await tmux.open(label, launch(own_home))


async def test_an_end_is_seen_with_its_status(tmux: Tmux, own_home: Path) -> None:
    """One at a time, because the next start would remind tmux of the end that it has missed."""

    for status in range(12):
        pane = await tmux.open("api", launch(own_home, "/bin/sh", "-c", f"exit {status}"))
        identity = tmux.processes.identify(pane.pid)
        assert identity is None or await tmux.processes.wait_for_end(identity, 10)
        seen = (await tmux.look())[pane.id]
        assert (seen.dead, seen.exit_status, seen.exit_signal) == (True, status, None)


async def test_an_end_by_signal_is_seen_though_a_child_holds_the_terminal(
    tmux: Tmux, own_home: Path, waiting: Waiting
) -> None:
    order = launch(own_home, "/bin/sh", "-c", "trap '' HUP; sleep 600 & echo ready; wait")
    pane = await tmux.open("api", order)
    await waiting.shows(tmux, pane.id, "ready")
    identity = tmux.processes.identify(pane.pid)
    assert identity is not None
    tmux.processes.signal(identity, signal.SIGKILL)
    assert await tmux.processes.wait_for_end(identity, 10)
    assert (await tmux.look())[pane.id].exit_signal == signal.SIGKILL


async def test_a_program_that_is_missing_says_so_in_its_pane(
    tmux: Tmux, own_home: Path, waiting: Waiting
) -> None:
    pane = await tmux.open("api", launch(own_home, "/nothing/here;"))
    await waiting.shows(tmux, pane.id, "not started: /nothing/here;: no such program")
    launcher = tmux.processes.identify(pane.pid)
    assert launcher is None or await tmux.processes.wait_for_end(launcher, 10)
    assert (await tmux.look())[pane.id].exit_status == 127
    gone = await tmux.open("api", launch(own_home / "gone", "sleep", "1"))
    await waiting.shows(tmux, gone.id, "cannot enter")


async def test_a_pane_is_used_again_only_when_its_process_is_gone(
    tmux: Tmux, own_home: Path, waiting: Waiting
) -> None:
    pane = await tmux.open("api", launch(own_home, *DEAF))
    await waiting.shows(tmux, pane.id, "ready")
    with pytest.raises(PaneOccupied):
        await tmux.reopen(pane.id, launch(own_home))
    with pytest.raises(PaneOccupied):
        await tmux.close(pane.id)
    await ended(tmux, pane)
    (own_home / "next").mkdir()
    again = await tmux.reopen(pane.id, launch(own_home / "next", "/bin/sh", "-c", "pwd; cat"))
    assert (again.id, again.label, again.dead) == (pane.id, "api", False)
    assert again.pid != pane.pid
    text = await waiting.shows(tmux, pane.id, str(own_home / "next"))
    assert "ready" in text, "the history of the one before is kept"
    await ended(tmux, again)


async def test_a_process_that_closed_its_terminal_still_holds_its_pane(
    tmux: Tmux, own_home: Path, waiting: Waiting
) -> None:
    hiding = "trap '' HUP; exec sleep 600 </dev/null >/dev/null 2>&1"
    pane = await tmux.open("api", launch(own_home, "/bin/sh", "-c", hiding))
    async with asyncio.timeout(120):
        while not (await tmux.look())[pane.id].dead:
            await asyncio.sleep(0.01)
    with pytest.raises(PaneOccupied):
        await tmux.reopen(pane.id, launch(own_home))
    await ended(tmux, pane)
    await tmux.reopen(pane.id, launch(own_home))


async def test_a_pane_gets_another_label_and_its_window_the_name(
    tmux: Tmux, own_home: Path
) -> None:
    pane = await tmux.open("api", launch(own_home, "cat"))
    await tmux.relabel(pane.id, "web")
    assert (await tmux.look())[pane.id].label == "web"
    name = ["display-message", "-p", "-t", pane.id, "#{window_name}"]
    assert await tmux.command.run(name) == ["web"]
    await tmux.relabel(pane.id, "api:with/marks")
    assert await tmux.command.run(name) == ["agent"]
    with pytest.raises(BadUsage):
        await tmux.relabel(pane.id, "#(touch X)")
    with pytest.raises(PaneGone):
        await tmux.relabel(PaneId("%99"), "web")
    await ended(tmux, pane)


async def test_a_closed_pane_is_gone(tmux: Tmux, own_home: Path) -> None:
    pane = await tmux.open("api", launch(own_home, "true"))
    await ended(tmux, pane)
    await tmux.close(pane.id)
    await tmux.close(pane.id)
    assert await tmux.look() == {}
    with pytest.raises(PaneGone):
        await tmux.reopen(pane.id, launch(own_home))
    with pytest.raises(PaneGone):
        await tmux.paste(pane.id, "x")
    with pytest.raises(PaneGone):
        await tmux.press(pane.id, "Enter")
    assert await tmux.command.run(["list-buffers"]) == []


@pytest.mark.parametrize("pane", ["", "%", "%0; kill-server", "cockpit:0", "#(touch X)", "-t"])
async def test_only_a_pane_id_is_a_pane(tmux: Tmux, own_home: Path, pane: str) -> None:
    await tmux.start_server()
    for asked in (
        tmux.capture(PaneId(pane)),
        tmux.paste(PaneId(pane), "x"),
        tmux.press(PaneId(pane), "Enter"),
        tmux.reopen(PaneId(pane), launch(own_home)),
    ):
        with pytest.raises(PaneGone):
            await asked
    assert await tmux.server_pid() is not None


async def test_text_is_pasted_as_it_is_without_controls(
    tmux: Tmux, own_home: Path, waiting: Waiting
) -> None:
    text = "-x #(touch X) ;\n'$(touch X)' `touch X` {a} \\;\tü 👩‍👧\x1b[201~\x03\x04; end;\n"

    pane = await tmux.open("api", launch(own_home))
    await waiting.shows(tmux, pane.id, "ready")
    await tmux.paste(pane.id, text)
    seen = await waiting.shows(tmux, pane.id, "; end;$")
    lines = seen.split("ready\n")[1].split("\n")
    assert lines[0] == "-x #(touch X) ;$"
    assert lines[1].startswith("'$(touch X)' `touch X` {a} \\;^I")
    assert "^[" not in seen
    assert "^C" not in seen
    assert await tmux.command.run(["list-buffers"]) == []
    assert not list(own_home.rglob("X"))


async def test_a_paste_is_bracketed_where_the_program_asks_for_it(
    tmux: Tmux, own_home: Path, waiting: Waiting
) -> None:
    asking = 'stty -echo -icanon; printf "\\033[?2004h"; echo ready; exec cat -v'
    pane = await tmux.open("api", launch(own_home, "/bin/sh", "-c", asking))
    await waiting.shows(tmux, pane.id, "ready")
    await tmux.paste(pane.id, "one\ntwo")
    await tmux.press(pane.id, "Escape")
    seen = await waiting.shows(tmux, pane.id, "^[[201~^[")
    assert "^[[200~one\ntwo^[[201~^[" in seen


async def test_keys_that_are_held_off_never_arrive_and_later_ones_do(
    tmux: Tmux, own_home: Path, waiting: Waiting
) -> None:
    pane = await tmux.open("api", launch(own_home))
    await waiting.shows(tmux, pane.id, "ready")
    await tmux.hold_keys(pane.id, 0.3)
    await tmux.command.run(["send-keys", "-t", pane.id, "a", "Enter"])
    while await tmux.command.run(["list-panes", "-t", pane.id, "-F", OFF]) != ["0"]:
        await asyncio.sleep(0.02)
    await tmux.command.run(["send-keys", "-t", pane.id, "b", "Enter"])
    seen = await waiting.shows(tmux, pane.id, "b$")
    assert seen.strip().endswith("ready\nb$")


async def test_a_paste_for_a_program_that_has_ended_costs_nobody_anything(
    tmux: Tmux, own_home: Path, waiting: Waiting
) -> None:
    """Up to 3.4, tmux crashes when it pastes into a dead pane."""

    other = await tmux.open("other", launch(own_home))
    pane = await tmux.open("api", launch(own_home, "/bin/sh", "-c", "exit 3"))
    while not (await tmux.look())[pane.id].dead:
        await asyncio.sleep(0.01)
    with pytest.raises(PaneGone, match="process has ended"):
        await tmux.paste(pane.id, "go on")
    await waiting.shows(tmux, other.id, "ready")
    assert await tmux.command.run(["list-buffers"]) == []


async def test_a_long_paste_arrives_whole(tmux: Tmux, own_home: Path, waiting: Waiting) -> None:
    counting = "stty -echo; echo ready; head -c 202000 | cksum; exec sleep 600"
    pane = await tmux.open("api", launch(own_home, "/bin/sh", "-c", counting))
    await waiting.shows(tmux, pane.id, "ready")
    await tmux.paste(pane.id, ("x" * 100 + "\n") * 2000)
    await waiting.shows(tmux, pane.id, " 202000")


@pytest.mark.parametrize("key", ["", "foo", "-l", "Enter;", "x", "C-é", "F13", "Enter\n"])
async def test_what_is_no_key_is_not_typed(tmux: Tmux, own_home: Path, key: str) -> None:
    with pytest.raises(BadUsage):
        await tmux.press(PaneId("%0"), key)


async def test_a_key_reaches_a_pane_that_was_scrolled_back(
    tmux: Tmux, own_home: Path, waiting: Waiting
) -> None:
    pane = await tmux.open("api", launch(own_home))
    await waiting.shows(tmux, pane.id, "ready")
    await tmux.command.run(["copy-mode", "-t", pane.id])
    await tmux.paste(pane.id, "hello")
    await tmux.command.run(["copy-mode", "-t", pane.id])
    await tmux.press(pane.id, "Enter")
    await waiting.shows(tmux, pane.id, "hello$")


async def test_a_screen_is_text_and_colour_only(
    tmux: Tmux, own_home: Path, waiting: Waiting
) -> None:
    hostile = (
        "\\033]0;title\\007\\033]52;c;ZXZpbA==\\007\\033Ptmux;x\\033\\\\"
        "\\033[1;31mred\\033[0m\\302\\2332J user\\342\\200\\256gnp \\033(0qqq\\033(B\\033[?25l"
    )

    order = launch(own_home, "/bin/sh", "-c", f"printf '{hostile}'; exec sleep 600")
    pane = await tmux.open("api", order)
    await waiting.shows(tmux, pane.id, "red")
    screen = await tmux.capture(pane.id)
    line = screen.lines[0]
    assert "\x1b[1m\x1b[31mred" in line
    assert "───" in line
    assert set(line.replace("\x1b[", "")) & set("\x1b\x07\x9b\u202e\x0e\x0f") == set()
    assert not screen.cursor_visible
    assert screen.cursor_row == 0
    buffers = await tmux.command.run(["list-buffers"])
    assert buffers == [], "an agent must not reach the clipboard"


async def test_history_stands_above_the_screen(
    tmux: Tmux, own_home: Path, waiting: Waiting
) -> None:
    order = launch(own_home, "/bin/sh", "-c", "seq 200; exec sleep 600")
    pane = await tmux.open("api", order)
    await waiting.shows(tmux, pane.id, "200")
    assert len((await tmux.capture(pane.id)).lines) == pane.height
    above = (await tmux.capture(pane.id, history=1000)).lines
    assert above[0] == "1"
    assert above[199] == "200"


async def test_what_is_written_is_for_the_owner_only(tmux: Tmux, own_home: Path) -> None:
    before = os.umask(0)
    try:
        await tmux.open("api", launch(own_home, prompt="x" * 200_000))
    finally:
        os.umask(before)
    for path in [tmux.command.socket, tmux.command.config, *tmux.orders.folder.iterdir()]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    assert stat.S_IMODE(tmux.orders.folder.stat().st_mode) == 0o700
