"""Write a line to the terminal of a process that has ended.

The terminal is opened while the process is running, because its name may be reused later.
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
    """An open terminal. The device is closed when its last other process closes it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    def write_line(self, text: str) -> None:
        """Write a line below the existing output.

        Does not block; has no effect if the terminal is closed or stopped.
        """
        if self._descriptor is not None:
            with suppress(OSError):
                os.write(self._descriptor, f"\r\n{text}\r\n".encode())

    def close(self) -> None:
        """Close the terminal. Idempotent."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def open_terminal(name: str) -> OpenTerminal | None:
    """Open a terminal by its name, such as `pts/3`; None if it does not belong to the user."""
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
