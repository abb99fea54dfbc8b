"""The output of a starting supervisor, before it can write its log.

The output goes to `logs/up.log`. If that file cannot be written, for example because the disk is
full, the output goes to a memfd, or to a temporary file on systems without memfds. The terminal can
then still show why a start failed.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from cockpit.config.kernel import USES_LINUX

LONGEST = 65_536
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_BLOCK = b"\n" * 4096


class StartupOutput:
    """A file descriptor for a child process's output, and the text that the process printed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.refused: str | None = None
        """Why the log file cannot be written, as a clause; None if it can be written."""
        self.descriptor = self._open()

    def _open(self) -> int:
        try:
            descriptor = os.open(self.path, _FLAGS, 0o600)
        except OSError as error:
            self.refused = (error.strerror or str(error)).lower()
            return _in_memory()
        try:
            os.write(descriptor, _BLOCK)  # a full disk fails on write, not on open
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, 0, os.SEEK_SET)
        except OSError as error:
            self.refused = (error.strerror or str(error)).lower()
            os.close(descriptor)
            return _in_memory()
        return descriptor

    def read(self) -> str:
        """Return the output so far, at most the first `LONGEST` bytes; empty if unreadable."""
        with suppress(OSError):
            return os.pread(self.descriptor, LONGEST, 0).decode("utf-8", "replace").strip()
        return ""

    def where(self) -> str:
        """Return a sentence with the path of the full output, or why it could not be saved."""
        if self.refused is not None:
            look = f"Check: df -h {self.path.parent}"
            return f"Cannot write {self.path}: {self.refused}. {look}"
        return f"Full output: {self.path}"

    def close(self) -> None:
        os.close(self.descriptor)


def _in_memory() -> int:
    if USES_LINUX:
        return os.memfd_create("cockpit-up", os.MFD_CLOEXEC)
    import tempfile

    try:
        with tempfile.TemporaryFile() as file:
            return os.dup(file.fileno())
    except OSError:
        return os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
