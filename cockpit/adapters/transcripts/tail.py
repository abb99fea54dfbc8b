"""Follows one growing transcript by its offset.

Splits bytes into lines and hands each to a runtime's parser; what a line means is the parser's
business. `fetch` reads the file and parses, and may run on any thread; `take` only notes how far
that came. Each look has bounds on bytes and time, so that no agent's record holds up the others.
Keeps no file open between looks. Only a line feed ends a line: other separators of Unicode are
text.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from cockpit.adapters.files.foreign_files import NotPlain, open_file
from cockpit.adapters.transcripts.lines import (
    LONGEST_LINE,
    LOOK_BACK,
    Parse,
    may_hold_reading,
    parse_bounded,
)
from cockpit.core.session import SessionEvent, Skipped

POLL_BYTES = 256 * 1024
"""Read in one look: its events are taken in one step of the event loop."""
LOOK_SECONDS = 0.1
"""Parsing that one look may take; what is left is for the next one."""
LARGEST_FILE = 4 * 1024**3
"""A larger file is no transcript: the largest real ones have some hundred MB."""
_HEAD_BYTES = 64
_PIECES = 64
"""Pieces of one line that are held until they are joined."""


@dataclass(frozen=True, slots=True)
class _Place:
    """How far a file was read."""

    read: int = 0
    partial: tuple[bytes, ...] = ()
    """The beginning of a line whose end was not there yet."""
    held: int = 0
    """Bytes in `partial`."""
    skipping: bool = False
    """Inside a line that is too long: `partial` is only the end of what was let go."""
    reading: bool = False
    """The line that is skipped may be a reply or a compaction."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What one look at the file found."""

    found: os.stat_result
    head: bytes
    start: int
    """Where the look began in the file."""
    another: bool
    """The file is not the one of the look before, so the look began at its beginning."""
    place: _Place
    """How far it is read after this look."""
    events: tuple[SessionEvent | Skipped, ...]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The path leads to something that is not read, and why; a file that is missing is not that."""

    why: str


class Tail:
    """One transcript, read from where the last look ended.

    A file that is not there (yet, or any more) is not an error: it gives nothing. When the file
    was cut short or another one took its place, reading starts again from its beginning and
    `restarts` grows by one: whoever counts must start again too.
    """

    def __init__(
        self,
        path: Path,
        parse: Parse,
        *,
        offset: int = 0,
        longest_line: int = LONGEST_LINE,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self.path = path
        self.restarts = 0
        """Times that the file turned out to be another one; compare before and after `poll`."""
        self.behind = 0
        """Bytes that were there at the last look and are still to be read."""
        self.unreadable: str | None = None
        """Why the path is not read, as a clause after its name; None where it is, or is missing."""
        self._parse = parse
        self._longest_line = longest_line
        self._look_seconds = look_seconds
        self._place = _Place(offset)
        self._file: tuple[int, int] | None = None
        self._head = b""
        self._seen: tuple[int, int, int, int] | None = None

    @property
    def offset(self) -> int:
        """Where the next complete line begins, in bytes: a later `Tail` can go on from here."""
        return self._place.read - self._place.held

    def poll(self, limit_bytes: int = POLL_BYTES) -> list[SessionEvent | Skipped]:
        """What was added since the last look, at most `limit_bytes` of it (see `behind`).

        A last line without its newline is held back until that comes. Never raises for what is
        wrong with the file; one that cannot be read gives nothing.
        """
        return self.take(self.fetch(limit_bytes))

    def fetch(self, limit_bytes: int = POLL_BYTES) -> Fetched | Unreadable | None:
        """Read and parse what was added; None if nothing was. Changes nothing here; may block."""
        try:
            found = self.path.stat()
            if self._seen == _stamp(found) and not self.behind:
                return None
            descriptor = open_file(self.path)
        except NotPlain as odd:
            return Unreadable(odd.strerror or str(odd))
        except PermissionError as refused:
            return Unreadable(f"cannot be opened: {refused.strerror}")
        except (OSError, ValueError):
            return None
        try:
            return self._fetch_from(descriptor, limit_bytes)
        except OSError as error:
            return Unreadable(f"cannot be read: {error.strerror}")
        finally:
            os.close(descriptor)

    def _fetch_from(self, descriptor: int, limit_bytes: int) -> Fetched | Unreadable:
        found = os.fstat(descriptor)
        if found.st_size > LARGEST_FILE:
            return Unreadable(f"has {found.st_size >> 30} GiB, too much for a transcript")
        head = os.pread(descriptor, _HEAD_BYTES, 0)
        place = self._place
        another = self._is_another(found, head, place.read)
        if another:
            place = _Place()
        length = max(0, min(limit_bytes, found.st_size - place.read))
        data = os.pread(descriptor, length, place.read)
        after, events = self._parsed(place, data)
        return Fetched(found, head, place.read, another, after, tuple(events))

    def take(self, fetched: Fetched | Unreadable | None) -> list[SessionEvent | Skipped]:
        """The events of what was fetched. Idempotent: what was taken already gives nothing."""
        if fetched is None:
            return []
        if isinstance(fetched, Unreadable):
            self.unreadable = fetched.why
            return []
        self.unreadable = None
        found, same = fetched.found, self._file == (fetched.found.st_dev, fetched.found.st_ino)
        read = self._place.read
        if fetched.another:
            if same and fetched.head == self._head and read and found.st_size >= read:
                return []  # two looks saw the same change
            self.restarts += 1
        elif fetched.start != read:
            return []
        self._file, self._head = (found.st_dev, found.st_ino), fetched.head
        self._place = fetched.place
        self.behind = max(0, found.st_size - self._place.read)
        self._seen = _stamp(found)
        return list(fetched.events)

    def _is_another(self, found: os.stat_result, head: bytes, read: int) -> bool:
        if found.st_size < read:
            return True
        if self._file is None:
            return False
        return self._file != (found.st_dev, found.st_ino) or not head.startswith(self._head)

    def _parsed(self, place: _Place, data: bytes) -> tuple[_Place, list[SessionEvent | Skipped]]:
        """The events of the lines that end in `data`, and how far they lead from `place`."""
        events: list[SessionEvent | Skipped] = []
        until, begin = time.monotonic() + self._look_seconds, 0
        while (end := data.find(b"\n", begin)) >= 0:
            place = self._extended(place, data[begin:end], events)
            if not place.skipping:
                self._give(b"".join(place.partial), events)
            place, begin = _Place(place.read + 1), end + 1
            if time.monotonic() > until:
                return place, events
        return self._extended(place, data[begin:], events), events

    def _extended(
        self, place: _Place, piece: bytes, events: list[SessionEvent | Skipped]
    ) -> _Place:
        """The place after more of the same line. What is too long is let go, not held."""
        if not piece:
            return place
        read, held = place.read + len(piece), place.held + len(piece)
        if not place.skipping and held <= self._longest_line:
            partial = (*place.partial, piece)
            if len(partial) > _PIECES:
                partial = (b"".join(partial),)
            return _Place(read, partial, held)
        let_go = b"".join((*place.partial, piece))
        reading = place.reading or may_hold_reading(let_go)
        if not place.skipping or reading > place.reading:
            events.append(Skipped("too-long", reading))
        return _Place(read, (let_go[-LOOK_BACK:],), held, True, reading)

    def _give(self, line: bytes, events: list[SessionEvent | Skipped]) -> None:
        found = parse_bounded(self._parse, line)
        if isinstance(found, Skipped):
            events.append(found)
        else:
            events.extend(found)


def _stamp(found: os.stat_result) -> tuple[int, int, int, int]:
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
