"""Follow one growing transcript by its offset.

Splits bytes into lines and passes each to a runtime's parser. `fetch` reads and parses, and may run
on any thread; `take` only stores how far it came. Each fetch is limited in bytes and time, so that
one agent's transcript does not delay the others. No file stays open between fetches. Only a line
feed ends a line: other Unicode separators are text.
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
"""Bytes read per fetch: its events are taken in one step of the event loop."""
LOOK_SECONDS = 0.1
"""Seconds of parsing per fetch; the rest is left for the next one."""
LARGEST_FILE = 4 * 1024**3
"""A larger file is not a transcript: the largest real ones have some hundred MB."""
_HEAD_BYTES = 64
_PIECES = 64
"""Maximum pieces of one line before they are joined."""


@dataclass(frozen=True, slots=True)
class _Place:
    """The position up to which a file was read."""

    read: int = 0
    partial: tuple[bytes, ...] = ()
    """The beginning of a line whose end was not written yet."""
    held: int = 0
    """Bytes in `partial`."""
    skipping: bool = False
    """Inside a line that is too long: `partial` is only the end of what was dropped."""
    reading: bool = False
    """The skipped line may be a reply or a compaction."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """The result of one fetch."""

    found: os.stat_result
    head: bytes
    start: int
    """Offset in the file where the fetch began."""
    another: bool
    """The file is not the one of the last fetch, so reading began at its start."""
    place: _Place
    """How far it is read after this fetch."""
    events: tuple[SessionEvent | Skipped, ...]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The reason that the path cannot be read; a missing file is not an error."""

    why: str


class Tail:
    """One transcript, read from where the last fetch ended.

    A missing file gives no events and no error. If the file was truncated or replaced, reading
    starts again at its beginning and `restarts` grows by one: the caller must then start counting
    again.
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
        """How often the file was truncated or replaced; compare before and after `poll`."""
        self.behind = 0
        """Bytes that existed at the last fetch and are still to be read."""
        self.unreadable: str | None = None
        """Why the path is not read, as a clause after its name; None if it is read, or missing."""
        self._parse = parse
        self._longest_line = longest_line
        self._look_seconds = look_seconds
        self._place = _Place(offset)
        self._file: tuple[int, int] | None = None
        self._head = b""
        self._seen: tuple[int, int, int, int] | None = None

    @property
    def offset(self) -> int:
        """Byte offset of the next complete line: a later `Tail` can continue from here."""
        return self._place.read - self._place.held

    def poll(self, limit_bytes: int = POLL_BYTES) -> list[SessionEvent | Skipped]:
        """Return what was added since the last fetch, at most `limit_bytes` of it (see `behind`).

        A last line without newline is held back until the newline arrives. Never raises because of
        the file; one that cannot be read gives nothing.
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
        after, events = self._parse_lines(place, data)
        return Fetched(found, head, place.read, another, after, tuple(events))

    def take(self, fetched: Fetched | Unreadable | None) -> list[SessionEvent | Skipped]:
        """Return the events of a fetch. Idempotent: a fetch taken before gives nothing."""
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
                return []  # two fetches saw the same change
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

    def _parse_lines(
        self, place: _Place, data: bytes
    ) -> tuple[_Place, list[SessionEvent | Skipped]]:
        """Return the events of the lines that end in `data`, and the new place after `place`."""
        events: list[SessionEvent | Skipped] = []
        until, begin = time.monotonic() + self._look_seconds, 0
        while (end := data.find(b"\n", begin)) >= 0:
            place = self._extend(place, data[begin:end], events)
            if not place.skipping:
                self._give(b"".join(place.partial), events)
            place, begin = _Place(place.read + 1), end + 1
            if time.monotonic() > until:
                return place, events
        return self._extend(place, data[begin:], events), events

    def _extend(self, place: _Place, piece: bytes, events: list[SessionEvent | Skipped]) -> _Place:
        """Return the place after more of the same line; a line that is too long is dropped."""
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
