"""The terminal around ours: names that this machine does not know, and a tmux of the user's."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.adapters.tmux.outer_terminal import is_kept
from cockpit.adapters.tmux.panes import Tmux
from cockpit.adapters.tmux.views import TmuxViews
from cockpit.ports.panes import Launch

if TYPE_CHECKING:
    from tests.adapters.conftest import Terminal, Waiting

OpenTerminal = Callable[..., "Terminal"]

KNOWN = """\
import os
from cockpit.adapters.tmux.outer_terminal import client_terminal
print(client_terminal(dict(os.environ, TMUX="x", TMUX_PANE="%0")))
"""

Outer = Callable[..., dict[str, str]]


@pytest.mark.parametrize(
    ("name", "used"),
    [
        ("xterm", "xterm"),
        ("xterm-of-tomorrow", "xterm-256color"),
        ("../../x", "xterm-256color"),
        ("", "xterm-256color"),
    ],
)
def test_a_terminal_that_nobody_here_knows_is_taken_for_an_xterm(name: str, used: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KNOWN],
        env={**os.environ, "TERM": name},
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"'TERM': '{used}'" in done.stdout
    assert "TMUX" not in done.stdout


@pytest.fixture
def outer(own_home: Path) -> Iterator[Outer]:
    """Makes a tmux of the user's with these commands in its file; the environment in it."""
    argv = ["tmux", "-S", str(own_home / "outer"), "-f", str(own_home / "outer.conf")]

    def start(configuration: str) -> dict[str, str]:
        (own_home / "outer.conf").write_text(configuration)
        subprocess.run([*argv, "new-session", "-d", "exec sleep 600"], check=True)
        return {"TMUX": f"{own_home / 'outer'},1,0"}

    yield start
    subprocess.run([*argv, "kill-server"], check=True)


@pytest.mark.tmux
@pytest.mark.parametrize(
    ("configuration", "kept"),
    [
        ("", False),
        ("set -g prefix C-a\nbind F12 kill-server\nbind -n F11 new-window", False),
        ("bind -n F12 new-window", True),
        ("bind -r -n F12 new-window", True),
        ("set -g prefix F12", True),
        ("set -g prefix2 F12", True),
        ("bind -n F12 send-keys F12", False),
    ],
)
def test_whether_the_pilots_own_tmux_keeps_a_key(
    outer: Outer, configuration: str, kept: bool
) -> None:
    assert is_kept("F12", outer(configuration)) is kept


@pytest.mark.tmux
async def test_the_other_return_key_is_told_of_where_the_first_is_kept(
    outer: Outer, tmux: Tmux, own_home: Path, waiting: Waiting, terminal: OpenTerminal
) -> None:
    views, environment = TmuxViews(tmux), outer("bind -n F12 new-window")
    run = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    await views.open_home(Launch(("/bin/sh", "-c", "echo home; exec cat"), own_home, run))
    pane = await tmux.open("a", Launch(("/bin/sh", "-c", "echo in; exec cat"), own_home, run))
    pilot = terminal(await views.attach_command(pane.id, environment))
    await waiting.until(lambda: b"Ctrl-F12 back to the cockpit" in pilot.seen)
    pilot.type(b"\x1b[24;5~")
    await waiting.until(lambda: b"home" in pilot.seen)


def test_a_tmux_that_is_gone_keeps_no_key(own_home: Path) -> None:
    assert not is_kept("F12", {})
    assert not is_kept("F12", {"TMUX": f"{own_home}/gone,1,0"})
