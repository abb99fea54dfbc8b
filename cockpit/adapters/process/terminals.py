"""Write a line to a terminal in which a process of the user ran.

The terminal is opened while the process runs: its name may be given to another one later.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from pathlib import Path

_NAME = re.compile(r"pts/[0-9]{1,7}|ttys[0-9]{1,5}|tty[0-9]{1,3}")
_FLAGS = os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW


class OpenTerminal:
    """A terminal that is held open; the device goes when its last other user does."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    def write_line(self, text: str) -> None:
        """Write below the existing output. Never waits; a closed or stopped terminal is ignored."""
        if self._descriptor is not None:
            with suppress(OSError):
                os.write(self._descriptor, f"\r\n{text}\r\n".encode())

    def close(self) -> None:
        """Idempotent."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def open_terminal(name: str) -> OpenTerminal | None:
    """Open a terminal by its name, such as `pts/3`; None if it is none of the user's."""
    if not _NAME.fullmatch(name):
        return None
    try:
        descriptor = os.open(Path("/dev") / name, _FLAGS)
    except OSError:
        return None
    found = os.fstat(descriptor)
    if stat.S_ISCHR(found.st_mode) and found.st_uid == os.geteuid() and os.isatty(descriptor):
        return OpenTerminal(descriptor)
    os.close(descriptor)
    return None
