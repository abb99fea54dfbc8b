"""Reads a whole transcript once: the last reading from its end, or everything in it.

For a cold start and for the command line. Following a file that grows is `transcripts.py`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

from cockpit.adapters.transcripts import LONGEST_LINE, Parse
from cockpit.core.session import (
    AssistantReplied,
    Compacted,
    Identified,
    SessionEvent,
    Skipped,
)

BLOCK = 256 * 1024
"""Small enough to stay in a core's cache: larger blocks are a third slower."""
LARGEST_STEP = 1024 * 1024
FIRST_BLOCK = 64 * 1024
HEAD_LINES = 32
"""Lines that are always parsed: what a session says of itself stands at its beginning."""


@dataclass(frozen=True, slots=True)
class Latest:
    """What a transcript ends with."""

    reply: AssistantReplied | None = None
    """The last of the main chain; None if there is none, or none since a compaction."""
    compacted: bool = False
    """The conversation was summarised after its last reply."""
    model: str | None = None
    """The model as the record's identity spells it, where that was met; else the reply's."""
    end: int = 0
    """Size of the file when it was looked at."""


def last_reading(
    path: Path,
    parse: Parse,
    needles: Sequence[bytes],
    *,
    first_block: int = FIRST_BLOCK,
    longest_line: int = LONGEST_LINE,
) -> Latest:
    """Look backwards for the last reply of the main chain, in growing blocks.

    `needles` are bytes of which every line with a reply or a compaction holds at least one;
    other lines are not parsed, however many megabytes lie behind the last reply. Raises
    `OSError` for a file that cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        size = os.fstat(descriptor).st_size
        latest = Latest()
        for start, end in _candidates(descriptor, size, needles, first_block):
            if end - start > longest_line:
                continue
            found = _ending(parse(os.pread(descriptor, end - start, start)))
            if found is not None:
                latest = found
                break
        head = os.pread(descriptor, min(size, FIRST_BLOCK), 0)
    finally:
        os.close(descriptor)
    model = latest.reply.model if latest.reply else None
    identity = _identity(head, parse)
    if identity and (model is None or identity.split("[", 1)[0] == model):
        model = identity
    return Latest(latest.reply, latest.compacted, model, size)


def _ending(found: Sequence[SessionEvent] | Skipped) -> Latest | None:
    """What a line says about the end of the conversation; None if nothing."""
    for event in () if isinstance(found, Skipped) else found:
        if isinstance(event, Compacted):
            return Latest(compacted=True)
        if _is_reading(event):
            return Latest(event)
    return None


def _is_reading(event: SessionEvent) -> TypeGuard[AssistantReplied]:
    if not isinstance(event, AssistantReplied) or event.sidechain:
        return False
    return event.context.context > 0


def _candidates(
    descriptor: int, size: int, needles: Sequence[bytes], length: int
) -> Iterator[tuple[int, int]]:
    """Start and end of each complete line that holds a needle, last first."""
    longest = max(len(needle) for needle in needles)
    top = _last_newline(descriptor, size)
    while top > 0:
        begin = max(0, top - length)
        block = os.pread(descriptor, top - begin, begin)
        position = max(block.rfind(needle) for needle in needles)
        while position >= 0:
            start = _line_start(descriptor, begin, block, position)
            end = _line_end(descriptor, begin, block, position, size)
            yield start, end
            if start <= begin:
                top = start
                break
            position = max(block.rfind(needle, 0, start - begin) for needle in needles)
        else:
            # A needle may lie across the edge of two blocks.
            top = begin + longest - 1 if begin else 0
        length = min(LARGEST_STEP, length * 4)
        if begin == 0:
            return


def _last_newline(descriptor: int, size: int) -> int:
    """Where the last complete line ends; what follows is still being written."""
    end = size
    while end > 0:
        begin = max(0, end - FIRST_BLOCK)
        found = os.pread(descriptor, end - begin, begin).rfind(b"\n")
        if found >= 0:
            return begin + found
        end = begin
    return 0


def _line_start(descriptor: int, begin: int, block: bytes, position: int) -> int:
    found = block.rfind(b"\n", 0, position)
    while found < 0 and begin > 0:
        end, begin = begin, max(0, begin - FIRST_BLOCK)
        block = os.pread(descriptor, end - begin, begin)
        found = block.rfind(b"\n")
    return begin + found + 1


def _line_end(descriptor: int, begin: int, block: bytes, position: int, size: int) -> int:
    found = block.find(b"\n", position)
    while found < 0:
        begin += len(block)
        block = os.pread(descriptor, min(FIRST_BLOCK, size - begin), begin)
        if not block:
            return begin
        found = block.find(b"\n")
    return begin + found


def _identity(head: bytes, parse: Parse) -> str | None:
    for line in head.split(b"\n")[:HEAD_LINES]:
        found = parse(line)
        if isinstance(found, Skipped):
            continue
        for event in found:
            if isinstance(event, Identified) and event.model:
                return event.model
    return None


def read_all(
    path: Path,
    parse: Parse,
    feed: Callable[[SessionEvent | Skipped], None],
    *,
    block: int = BLOCK,
    longest_line: int = LONGEST_LINE,
) -> None:
    """Hand every event of a transcript to `feed`, in order.

    A last line without its newline is read too: a session that ended leaves none, and one that
    is being written gives a torn record at worst. Raises `OSError` for a file that cannot be
    read.
    """
    with path.open("rb", buffering=0) as file:
        for line in _lines(file.fileno(), block, longest_line):
            found = parse(line) if line is not None else Skipped("too-long")
            if isinstance(found, Skipped):
                feed(found)
                continue
            for event in found:
                feed(event)


def _lines(descriptor: int, block: int, longest: int) -> Iterator[bytes | None]:
    """Every line without its newline; None for one that is too long to be held."""
    held: list[bytes] = []
    held_bytes = 0
    while data := os.read(descriptor, block):
        lines = data.split(b"\n")
        rest = lines.pop()
        if lines and held_bytes:
            held.append(lines[0])
            lines[0] = b"".join(held)
            held.clear()
            if held_bytes > longest:
                del lines[0]
            held_bytes = 0
        yield from lines
        if rest and held_bytes <= longest:
            held.append(rest)
            held_bytes += len(rest)
            if held_bytes > longest:
                held.clear()
                yield None
    if held:
        yield b"".join(held)
