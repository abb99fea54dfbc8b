"""Write a line to the terminal of a process that has ended; turn off this terminal's echo.

The terminal of another process is opened while the process is running, because the terminal's name
may be reused later.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_NAME = re.compile(r"pts/[0-9]{1,7}|ttys[0-9]{1,5}|tty[0-9]{1,3}")
_FLAGS = os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW

_LEAVE = (
    "\x1b[<u\x1b[>4;0m\x1b[?2004l\x1b[?1004l\x1b[?1000;1002;1003;1006l\x1b[?47l\x1b[?25h\x1b[0m"
)
"""Ends the keyboard protocols, bracketed paste, reports of focus and mouse, and the alternate
screen; shows the cursor. Each part has no effect unless its mode is on. Mode 47 is ended instead of
1049, because ending 1049 would also move the cursor."""


class OpenTerminal:
    """An open terminal. Errors while writing to it are ignored."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    def leave_full_screen(self) -> None:
        """Leave the alternate screen, and reset the terminal modes that a killed program left on.
        The shell restores the tty settings."""
        if self._descriptor is not None:
            with suppress(OSError):
                os.write(self._descriptor, _LEAVE.encode())

    def write_line(self, text: str) -> None:
        """Write a line below the cursor, and erase what an ended program has drawn there.

        Does not block; has no effect if the terminal is closed or stopped.
        """
        if self._descriptor is not None:
            with suppress(OSError):
                os.write(self._descriptor, f"\r\n\x1b[J{text}\r\n".encode())

    def close(self) -> None:
        """Close the terminal. Idempotent."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def open_terminal(name: str) -> OpenTerminal | None:
    """Open a terminal by its name, such as `pts/3`; None if it cannot be opened, or belongs to
    another user."""
    if not _NAME.fullmatch(name):
        return None
    try:
        descriptor = os.open(Path("/dev") / name, _FLAGS)
    except OSError:
        return None
    file_status = os.fstat(descriptor)
    if (
        stat.S_ISCHR(file_status.st_mode)
        and file_status.st_uid == os.geteuid()
        and os.isatty(descriptor)
    ):
        return OpenTerminal(descriptor)
    os.close(descriptor)
    return None


@contextmanager
def without_echo(terminal: int | None = None) -> Iterator[None]:
    """Turn off the echo of a terminal, stdin by default, until the end of the block.

    Keys that are typed meanwhile stay in the input of the program that reads the terminal next; an
    echo would stay on the shell's lines. Has no effect without a terminal.
    """
    try:
        descriptor = sys.stdin.fileno() if terminal is None else terminal
        before = termios.tcgetattr(descriptor)
        quiet = termios.tcgetattr(descriptor)
        quiet[3] &= ~termios.ECHO
        termios.tcsetattr(descriptor, termios.TCSANOW, quiet)
    except (OSError, ValueError, termios.error):  # closed, not a terminal, or hung up
        yield
        return
    try:
        yield
    finally:
        with suppress(termios.error):
            termios.tcsetattr(descriptor, termios.TCSANOW, before)
