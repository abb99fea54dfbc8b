"""Giving the terminal away and taking it back, on a real pseudo-terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

CHILD = """
import asyncio
from cockpit.cli.tui import ScreenOptions, build
from cockpit.core.errors import Failed
from tests.tui.scene import scene

client = scene()

async def attach(name):
    print("IN THE PANE OF", name, flush=True)
    for number in range(80):
        client.change("checkout", activity=f"step {number}")
        await asyncio.sleep(0.01)
    client.change("checkout", activity="QXZJVK")  # no letter in common: sent in one piece
    print("STILL THERE", flush=True)
    if name == "mailer":
        raise Failed("the pane is gone", "It ended meanwhile.")

app = build(client, ScreenOptions(attach=attach, direct=True))
app.run()
print("LEFT IN PEACE", flush=True)
"""


class Terminal:
    """A child on a pseudo-terminal, and everything that it wrote."""

    def __init__(self) -> None:
        self.pid, self.file = pty.fork()
        if not self.pid:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
            # Given whole: readline sets LINES and COLUMNS behind the back of `os.environ`.
            environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
            for size in ("COLUMNS", "LINES"):
                environment.pop(size, None)
            os.execve(sys.executable, [sys.executable, "-c", CHILD], environment)
        self.written = ""

    def until(self, text: str, after: int = 0) -> int:
        """Read until it comes; where it ended."""
        deadline = time.monotonic() + 60
        while (found := self.written.find(text, after)) < 0:
            assert time.monotonic() < deadline, f"never came: {text}\n{self.written[-2000:]}"
            if select.select([self.file], [], [], 0.1)[0]:
                try:
                    self.written += os.read(self.file, 1 << 16).decode(errors="replace")
                except OSError:
                    deadline = 0
        return found + len(text)

    def press(self, keys: str) -> None:
        os.write(self.file, keys.encode())

    def close(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.file)


def test_the_screen_steps_aside_stays_alive_and_comes_back_whatever_happens() -> None:
    terminal = Terminal()
    try:
        here = terminal.until("142k/200k")
        terminal.press("\r")
        here = terminal.until("IN THE PANE OF api", here)
        aside = terminal.written[:here].rfind("\x1b[?1049l")
        assert aside > 0, "the screen had gone before"
        there = terminal.until("STILL THERE", here)
        assert "step" not in terminal.written[here:there], "nothing of ours is drawn over the pane"
        here = terminal.until("\x1b[?1049h", there)
        here = terminal.until("QXZJVK", here)
        terminal.press("j\r")
        here = terminal.until("IN THE PANE OF mailer", here)
        here = terminal.until("the pane is gone", here)
        terminal.press("q")
        terminal.until("LEFT IN PEACE", here)
    finally:
        terminal.close()
