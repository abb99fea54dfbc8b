"""`cockpit` in a real terminal: what a person sees, goes into, and comes back to."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.tmux

COCKPIT = [sys.executable, "-P", "-m", "cockpit"]
PATIENCE = 120.0
AGENTS = """
[[agents]]
name = "first"
runtime = "command"
command = ["/bin/sh", "-c", "echo I am the first; exec cat"]

[[agents]]
name = "second"
runtime = "command"
command = ["/bin/sh", "-c", "echo I am the second; exec cat"]
"""


class Terminal:
    """A terminal of a user: an outer tmux server of its own, which can be hung up."""

    def __init__(self, socket: Path) -> None:
        self.tmux = ["tmux", "-S", str(socket), "-f", "/dev/null"]

    def open(self) -> None:
        shell = ["env", "-u", "TMUX", *COCKPIT]
        size = ["-x", "100", "-y", "30"]
        subprocess.run([*self.tmux, "new-session", "-d", *size, "--", *shell], check=True)

    def press(self, *keys: str) -> None:
        subprocess.run([*self.tmux, "send-keys", *keys], check=True)

    def seen(self) -> str:
        done = subprocess.run(
            [*self.tmux, "capture-pane", "-p"], capture_output=True, text=True, check=False
        )
        return done.stdout

    def until(self, *words: str) -> str:
        """What is seen once it has all the words."""
        deadline = time.monotonic() + PATIENCE
        while not all(word in (picture := self.seen()) for word in words):
            assert time.monotonic() < deadline, f"no {words} in:\n{picture}"
            time.sleep(0.05)
        return picture

    def hang_up(self) -> None:
        subprocess.run([*self.tmux, "kill-server"], check=False, capture_output=True)


@pytest.fixture
def terminal(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """Opened where two agents are already flying."""
    monkeypatch.chdir(own_home)
    monkeypatch.setenv("TERM", "xterm-256color")
    (own_home / "ck" / "cockpit.toml").write_text(AGENTS)
    for words in (["up"], ["start", "first"], ["start", "second"]):
        subprocess.run([*COCKPIT, *words], check=True, capture_output=True)
    terminal = Terminal(own_home / "outer")
    yield terminal
    terminal.hang_up()
    subprocess.run([*COCKPIT, "down", "--agents"], check=True, capture_output=True)


def test_into_a_pane_and_back_and_the_terminal_may_go(terminal: Terminal, own_home: Path) -> None:
    terminal.open()
    terminal.until("first", "second", "I am the first")

    terminal.press("j")
    terminal.until("I am the second")
    terminal.press("Enter")
    terminal.until("I am the second", "F12")
    terminal.press("typed here", "Enter")
    terminal.until("typed here")
    terminal.press("F12")
    terminal.until("first", "second", "hand off")

    terminal.hang_up()
    another = Terminal(own_home / "another")
    another.open()
    another.until("first", "second", "I am the second", "typed here")
    another.hang_up()


@pytest.mark.long
def test_attach_goes_straight_to_the_pane(terminal: Terminal) -> None:
    shell = ["env", "-u", "TMUX", *COCKPIT, "attach", "second"]
    subprocess.run([*terminal.tmux, "new-session", "-d", "--", *shell], check=True)

    terminal.until("I am the second", "F12")
