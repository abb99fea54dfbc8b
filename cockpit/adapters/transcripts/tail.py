"""Follow one growing transcript.

Splits bytes into lines and passes each line to a runtime's parser. `fetch` reads and parses, and
may run on any thread; `take` only stores the new position. Each fetch is limited in bytes and time,
so that one agent's transcript does not delay the others. No file stays open between fetches. Only a
line feed ends a line; other Unicode separators are text.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from cockpit.adapters.files.foreign_files import NotPlain, open_file
from cockpit.adapters.transcripts.lines import (
    LONGEST_LINE,
    LOOK_BACK,
    Parse,
    may_hold_reading,
    parse_bounded,
)
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.session import SessionEvent, Skipped

POLL_BYTES = 256 * 1024
"""Maximum bytes read per fetch, whose events are processed in one iteration of the event loop."""
LOOK_SECONDS = 0.1
"""Maximum seconds of parsing per fetch; the rest is left for the next fetch."""
LARGEST_FILE = 4 * 1024**3
"""Maximum bytes of a transcript; the largest real transcripts have some hundred MB."""
_HEAD_BYTES = 64
_PIECES = 64
"""Maximum pieces of one line before they are joined."""


@dataclass(frozen=True, slots=True)
class _Place:
    """The position up to which a file was read, and what was read of the line at this position."""

    read: int = 0
    partial: tuple[bytes, ...] = ()
    """The beginning of an incomplete line, in pieces."""
    held: int = 0
    """Number of bytes in `partial`."""
    skipping: bool = False
    """Whether the current line is too long; then `partial` has only the last piece of the dropped
    text."""
    reading: bool = False
    """Whether the skipped line may be a reply or a compaction."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What one fetch read from the transcript."""

    found: os.stat_result
    head: bytes
    start: int
    """The offset in the file at which the fetch began."""
    another: bool
    """Whether the file was replaced or truncated; then reading began at the start of the file."""
    place: _Place
    """The position after this fetch."""
    events: tuple[SessionEvent | Skipped, ...]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The result of a fetch from a path that cannot be read. A missing file is not an error."""

    why: str


class Tail:
    """One transcript; each fetch continues at the end of the previous fetch.

    A missing file gives no events and no error. If the file was truncated or replaced, `Tail` reads
    from the start again and increases `restarts` by one; then the caller must reset its counts.
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
        """Number of times that the file was truncated or replaced. To notice a change, compare the
        value before and after `poll`."""
        self.behind = 0
        """The number of bytes that existed at the latest fetch and are not read yet."""
        self.unreadable: str | None = None
        """Why the path could not be read, as a clause that follows the path; None before the first
        fetch, and after the file was read."""
        self._parse = parse
        self._longest_line = longest_line
        self._look_seconds = look_seconds
        self._place = _Place(offset)
        self._file: tuple[int, int] | None = None
        self._head = b""
        self._seen: tuple[int, int, int, int] | None = None

    @property
    def offset(self) -> int:
        """The byte offset of the first line that was not read completely. A later `Tail` can
        continue there."""
        return self._place.read - self._place.held

    def poll(self, limit_bytes: int = POLL_BYTES) -> list[SessionEvent | Skipped]:
        """Return the events added since the previous fetch, from at most `limit_bytes`.

        `behind` has the number of bytes that are left. A last line without a newline is not
        returned until the newline arrives. Never raises because of the file; an unreadable file
        gives no events.
        """
        return self.take(self.fetch(limit_bytes))

    def fetch(self, limit_bytes: int = POLL_BYTES) -> Fetched | Unreadable | None:
        """Read and parse added lines; return None if there are none, or if there is no file.

        Does not change this object. May block.
        """
        try:
            file_status = self.path.stat()
            if self._seen == _stamp(file_status) and not self.behind:
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
        file_status = os.fstat(descriptor)
        if file_status.st_size > LARGEST_FILE:
            return Unreadable(f"is too large for a transcript ({file_status.st_size >> 30} GiB)")
        head = os.pread(descriptor, _HEAD_BYTES, 0)
        place = self._place
        another = self._is_another(file_status, head, place.read)
        if another:
            place = _Place()
        length = max(0, min(limit_bytes, file_status.st_size - place.read))
        data = os.pread(descriptor, length, place.read)
        after, events = self._parse_lines(place, data)
        return Fetched(file_status, head, place.read, another, after, tuple(events))

    def take(self, fetched: Fetched | Unreadable | None) -> list[SessionEvent | Skipped]:
        """Store the position after a fetch, and return its events. Idempotent: a fetch that was
        already taken gives no events."""
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
                return []  # two fetches found the same change
            self.restarts += 1
        elif fetched.start != read:
            return []
        self._file, self._head = (found.st_dev, found.st_ino), fetched.head
        self._place = fetched.place
        self.behind = max(0, found.st_size - self._place.read)
        self._seen = _stamp(found)
        return list(fetched.events)

    def _is_another(self, file_status: os.stat_result, head: bytes, read: int) -> bool:
        if file_status.st_size < read:
            return True
        if self._file is None:
            return False
        return self._file != (file_status.st_dev, file_status.st_ino) or not head.startswith(
            self._head
        )

    def _parse_lines(
        self, place: _Place, data: bytes
    ) -> tuple[_Place, list[SessionEvent | Skipped]]:
        """Return the position after `data`, and the events of the lines that end in `data`."""
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
        """Return the position after another piece of the same line; drop a line that is too
        long."""
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
        parsed = parse_bounded(self._parse, line)
        if isinstance(parsed, Skipped):
            events.append(parsed)
        else:
            events.extend(parsed)


def _stamp(file_status: os.stat_result) -> tuple[int, int, int, int]:
    return (file_status.st_dev, file_status.st_ino, file_status.st_size, file_status.st_mtime_ns)
