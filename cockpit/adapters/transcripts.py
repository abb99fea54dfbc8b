"""Follows one growing transcript by its offset.

Splits bytes into lines and hands each to a runtime's parser; what a line means is the parser's
business. Never waits, and keeps no file open between looks. Only a line feed ends a line: other
separators of Unicode are text.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from cockpit.core.session import SessionEvent, Skipped

Parse = Callable[[bytes], Sequence[SessionEvent] | Skipped]

LONGEST_LINE = 64 * 1024 * 1024
"""Longer lines are counted and let go, never held. Real ones of 12 MB have been seen."""
POLL_BYTES = 4 * 1024 * 1024
_HEAD_BYTES = 64


class Tail:
    """One transcript, read from where the last look ended.

    A file that is not there (yet, or any more) is not an error: it gives nothing. When the file
    was cut short or another one took its place, reading starts again from its beginning and
    `restarts` grows by one: whoever counts must start again too.
    """

    def __init__(
        self, path: Path, parse: Parse, *, offset: int = 0, longest_line: int = LONGEST_LINE
    ) -> None:
        self.path = path
        self.restarts = 0
        """Times that the file turned out to be another one; compare before and after `poll`."""
        self.behind = 0
        """Bytes that were there at the last look and are still to be read."""
        self._parse = parse
        self._longest_line = longest_line
        self._read = offset
        self._partial = bytearray()
        self._too_long = False
        self._file: tuple[int, int] | None = None
        self._head = b""
        self._seen: tuple[int, int, int, int] | None = None

    @property
    def offset(self) -> int:
        """Where the next complete line begins, in bytes: a later `Tail` can go on from here."""
        return self._read - len(self._partial)

    def poll(self, limit_bytes: int = POLL_BYTES) -> list[SessionEvent | Skipped]:
        """What was added since the last look, at most `limit_bytes` of it (see `behind`).

        A last line without its newline is held back until that comes. Never raises for what is
        wrong with the file; one that cannot be read gives nothing.
        """
        try:
            found = self.path.stat()
            if self._seen == _stamp(found) and not self.behind:
                return []
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return []
        try:
            return self._read_from(descriptor, limit_bytes)
        except OSError:
            return []
        finally:
            os.close(descriptor)

    def _read_from(self, descriptor: int, limit_bytes: int) -> list[SessionEvent | Skipped]:
        found = os.fstat(descriptor)
        head = os.pread(descriptor, _HEAD_BYTES, 0)
        if self._is_another(found, head):
            self._start_again()
        self._file, self._head = (found.st_dev, found.st_ino), head
        data = os.pread(
            descriptor, max(0, min(limit_bytes, found.st_size - self._read)), self._read
        )
        self._read += len(data)
        self.behind = max(0, found.st_size - self._read)
        self._seen = _stamp(found)
        return self._take(data)

    def _is_another(self, found: os.stat_result, head: bytes) -> bool:
        if found.st_size < self._read:
            return True
        if self._file is None:
            return False
        return self._file != (found.st_dev, found.st_ino) or not head.startswith(self._head)

    def _start_again(self) -> None:
        self.restarts += 1
        self._read = 0
        self._partial.clear()
        self._too_long = False

    def _take(self, data: bytes) -> list[SessionEvent | Skipped]:
        events: list[SessionEvent | Skipped] = []
        *lines, rest = data.split(b"\n")
        for line in lines:
            if self._too_long:
                self._too_long = False
            elif self._partial:
                self._partial += line
                self._give(bytes(self._partial), events)
            else:
                self._give(line, events)
            self._partial.clear()
        if not self._too_long:
            self._partial += rest
        if len(self._partial) > self._longest_line:
            self._too_long = True
            self._partial.clear()
            events.append(Skipped("too-long"))
        return events

    def _give(self, line: bytes, events: list[SessionEvent | Skipped]) -> None:
        found = self._parse(line)
        if isinstance(found, Skipped):
            events.append(found)
        else:
            events.extend(found)


def _stamp(found: os.stat_result) -> tuple[int, int, int, int]:
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
