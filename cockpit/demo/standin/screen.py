"""The stand-in's screen: lines of output above, a prompt box below, and its keys.

Draws plain text only. Typed and pasted text becomes one prompt. Without a terminal, the screen
draws and reads nothing.
"""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from collections import deque
from typing import Literal

PASTE_BEGIN, PASTE_END = b"\x1b[200~", b"\x1b[201~"
SHIFT_TAB = b"\x1b[Z"
BRACKETED_PASTE = "\x1b[?2004h"

Heard = tuple[Literal["prompt", "escape", "quit", "mode"], str]


def _size() -> tuple[int, int]:
    """Return columns and rows. Does not use `shutil`, which takes long to import."""
    try:
        return os.get_terminal_size(sys.stdout.fileno())
    except OSError:
        return 80, 24


class Screen:
    """The stand-in's screen. Use it as a context manager, which restores the terminal."""

    def __init__(self) -> None:
        self.status = ""
        self.hint = ""
        """The line below the prompt box, such as `esc to interrupt` during a turn."""
        self.dialog: list[str] = []
        """Lines that are shown instead of the prompt box while a question is open."""
        self._lines: deque[str] = deque(maxlen=400)
        self._typed = b""
        self._pending = b""
        self._saved: list[object] | None = None
        self._terminal = sys.stdin.isatty() and sys.stdout.isatty()

    def __enter__(self) -> Screen:
        if self._terminal:
            self._saved = termios.tcgetattr(sys.stdin)
            tty.setcbreak(sys.stdin)
            settings = termios.tcgetattr(sys.stdin)
            settings[3] &= ~termios.ISIG
            termios.tcsetattr(sys.stdin, termios.TCSANOW, settings)
            self._put(BRACKETED_PASTE)
        return self

    def __exit__(self, *_: object) -> None:
        if self._terminal and self._saved is not None:
            try:
                termios.tcsetattr(sys.stdin, termios.TCSANOW, self._saved)  # type: ignore[arg-type]
            except termios.error:
                # The terminal hung up, so its settings cannot be restored.
                return

    def say(self, text: str) -> None:
        """Add lines of output above the prompt box."""
        for line in text.splitlines() or [""]:
            self._lines.append("".join(c if c.isprintable() else " " for c in line))
        self.draw()

    def draw(self) -> None:
        """Redraw the screen."""
        if not self._terminal:
            return
        width, height = _size()
        rule = "─" * max(8, width - 1)
        typed = self._typed.decode("utf-8", "replace").splitlines() or [""]
        box = self.dialog or [rule, f"❯ {typed[0]}", *typed[1:6], rule, f"  {self.hint}"]
        below = [*box, f"  {self.status}"]
        shown = list(self._lines)[-max(1, height - len(below) - 1) :]
        picture = "\r\n".join(line[: max(1, width - 1)] for line in (*shown, *below))
        self._put("\x1b[2J\x1b[H" + picture)

    def listen(self, seconds: float | None) -> Heard | None:
        """Wait for input, at most `seconds` if given; return the first complete input, else None.

        A lost terminal counts as `quit`.
        """
        if heard := self._next():
            return heard
        if not self._terminal:
            select.select([], [], [], 3600 if seconds is None else seconds)
            return None
        ready, _, _ = select.select([sys.stdin], [], [], seconds)
        if not ready:
            return None
        try:
            data = os.read(sys.stdin.fileno(), 65_536)
        except OSError:
            # The terminal hung up.
            data = b""
        if not data:
            return ("quit", "")
        self._pending += data
        heard = self._next()
        self.draw()
        return heard

    def _next(self) -> Heard | None:
        while self._pending:
            if PASTE_BEGIN.startswith(self._pending[:6]) and len(self._pending) > 1:
                if PASTE_END not in self._pending:
                    return None
                pasted, self._pending = self._pending.split(PASTE_END, 1)
                self._typed += pasted.removeprefix(PASTE_BEGIN).replace(b"\r", b"\n")
                continue
            key, self._pending = self._pending[:1], self._pending[1:]
            if key in (b"\r", b"\n"):
                text, self._typed = self._typed.decode("utf-8", "replace"), b""
                return ("prompt", text)
            if key + self._pending[:2] == SHIFT_TAB:
                self._pending = self._pending[2:]
                return ("mode", "")
            if key == b"\x1b":
                return ("escape", "")
            if key in (b"\x03", b"\x04"):
                return ("quit", "")
            self._typed = self._typed[:-1] if key == b"\x7f" else self._typed + key
        return None

    def _put(self, text: str) -> None:
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except OSError:
            # The terminal hung up; SIGHUP follows.
            self._terminal = False
