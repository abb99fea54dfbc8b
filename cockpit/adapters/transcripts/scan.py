"""Read a whole transcript once, for ended sessions and for the command line.

For a growing transcript, see `tail.py`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from cockpit.adapters.files.foreign_files import opened
from cockpit.adapters.transcripts.lines import (
    LONGEST_LINE,
    LOOK_BACK,
    WEIGHED_FROM,
    KeepsRest,
    Parse,
    may_hold_reading,
    parse_bounded,
)
from cockpit.adapters.transcripts.tail import LARGEST_FILE
from cockpit.core.session import SessionEvent, Skipped

BLOCK = 256 * 1024
"""Bytes per read of the transcript. This size fits into a core's cache; larger blocks are a third
slower."""


def feed_lines(
    lines: Iterable[bytes], parse: Parse, feed: Callable[[SessionEvent | Skipped], None]
) -> None:
    """Pass every event of these lines to `feed`, in order."""
    for line in lines:
        parsed = parse(line)
        for event in (parsed,) if isinstance(parsed, Skipped) else parsed:
            feed(event)


def read_all(
    path: Path,
    parse: Parse,
    feed: Callable[[SessionEvent | Skipped], None],
    *,
    block: int = BLOCK,
    longest_line: int = LONGEST_LINE,
    any_owner: bool = False,
) -> None:
    """Pass every event of a transcript to `feed`, in order.

    `any_owner`: allow other users' files, for a file that the user chose. The last line is read
    even without a newline; if it is still being written, it becomes `Skipped`. Raises `OSError`.
    """
    with opened(path, any_owner=any_owner, most=LARGEST_FILE) as file:
        for lines in _lines(file.fileno(), block, longest_line):
            for line in lines:
                if isinstance(line, Skipped):
                    feed(line)
                    continue
                parsed = parse(line) if len(line) < WEIGHED_FROM else parse_bounded(parse, line)
                if not parsed:
                    continue
                if isinstance(parsed, Skipped):
                    feed(parsed)
                    continue
                for event in parsed:
                    feed(event)
    for event in parse.rest() if isinstance(parse, KeepsRest) else ():
        feed(event)


def _lines(descriptor: int, block: int, longest: int) -> Iterator[Sequence[bytes | Skipped]]:
    """Yield all lines in groups, without newlines; a line that is too long becomes `Skipped`."""
    long = _LongLine(longest)
    while data := os.read(descriptor, block):
        lines = data.split(b"\n")
        rest = lines.pop()
        if lines and long:
            if (skipped := long.add(lines[0])) is not None:
                yield (skipped,)
            if (line := long.end()) is not None:
                yield (line,)
            del lines[0]
        yield lines
        if rest and (skipped := long.add(rest)) is not None:
            yield (skipped,)
    if (line := long.end()) is not None:
        yield (line,)


class _LongLine:
    """Collects a line from pieces. If the line is too long, keeps only whether it may contain a
    token count."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._clear()

    def _clear(self) -> None:
        self._held: list[bytes] = []
        self._length = 0
        self._let_go = self._reading = False

    def __bool__(self) -> bool:
        return self._length > 0

    def add(self, piece: bytes) -> Skipped | None:
        """Add the next piece; return `Skipped` if the line becomes too long.

        Returns `Skipped` once more when a later piece of that line may contain a token count.
        """
        self._held.append(piece)
        self._length += len(piece)
        if self._length <= self._longest:
            return None
        before = self._let_go, self._reading
        line = b"".join(self._held)
        self._reading = self._reading or may_hold_reading(line)
        self._let_go, self._held = True, [line[-LOOK_BACK:]]
        changed = before != (self._let_go, self._reading)
        return Skipped("too-long", self._reading) if changed else None

    def end(self) -> bytes | None:
        """Return the whole line; None if it is empty or too long."""
        line = None if self._let_go or not self._length else b"".join(self._held)
        self._clear()
        return line
