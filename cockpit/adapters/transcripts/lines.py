"""Limit the size of parsed transcript lines, and report whether a skipped line may have had a token
count.

An agent can write anything into its own transcript. `json.loads` holds the GIL until the whole line
is parsed, and creates an object for every value. So a line's size and number of values are limited;
a line above a limit becomes `Skipped`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from cockpit.core.session import SessionEvent, Skipped

Parse = Callable[[bytes], Sequence[SessionEvent | Skipped] | Skipped]


@runtime_checkable
class KeepsRest(Protocol):
    """A parser of lines (`Parse`) that holds some events back until the last line was read."""

    def rest(self) -> Sequence[SessionEvent]:
        """Return the events that were held back."""


LONGEST_LINE = 8 * 1024 * 1024
"""Maximum bytes of a parsed line.

A reply has less than 1 MB (at most 128k tokens). Longer lines in real transcripts are results with
images, of up to 12 MB, without a token count.
"""
MOST_VALUES = 50_000
"""Maximum number of strings, numbers, lists and objects in a line; real lines have some
thousands."""
WEIGHED_FROM = 64 * 1024
"""Minimum bytes of a line whose values are counted. A shorter line cannot have many more than
`MOST_VALUES`."""
_STEP = 256 * 1024
"""Bytes of a line that are processed per call; other threads can run between calls."""
_NEEDLES = (
    b'"assistant"', b'"compact_boundary"',
    b'"token_usage_record"', b'"compacted"',
    b'"type":"gemini"', b"<state_snapshot>",
    b'"reply"', b'"session.usage_record"', b'"session.compaction_complete"',
    b'"usage": {"', b'"usage":{"input":', b'"usage":{"cache_', b'"usage":{"output":',
)  # fmt: skip
LOOK_BACK = max(map(len, _NEEDLES)) - 1
"""Bytes at the end of a piece of a line that are searched again with the next piece, because a
match may begin in one piece and end in the other."""


def parse_bounded(parse: Parse, line: bytes) -> Sequence[SessionEvent | Skipped] | Skipped:
    """Parse a line, or skip it if it has too many values."""
    if len(line) >= WEIGHED_FROM and _has_too_many_values(line):
        return Skipped("too-many-values", reading=may_hold_reading(line))
    return parse(line)


def may_hold_reading(piece: bytes) -> bool:
    """Return whether a line with these bytes may record a reply or a compaction.

    A record quoted inside a JSON string does not match, because its quotation marks are escaped.
    Exception: `<state_snapshot>` matches anywhere.
    """
    return any(needle in piece for needle in _NEEDLES)


def _has_too_many_values(line: bytes) -> bool:
    """Return whether a line has more than `MOST_VALUES` values, without parsing the line."""
    if len(line) - len(line.translate(None, b",[{")) <= MOST_VALUES:
        return False  # even if the signs inside strings are counted
    values, in_string, start = 0, False, 0
    while start < len(line):
        piece = line[start : start + _STEP]
        if (len(piece) - len(piece.rstrip(b"\\"))) % 2 and start + _STEP < len(line):
            piece = line[start : start + _STEP + 1]  # do not split an escape
        start += len(piece)
        parts = piece.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        outside = b"".join(parts[1 if in_string else 0 :: 2])
        values += sum(outside.count(mark) for mark in (b",", b"[", b"{"))
        in_string ^= len(parts) % 2 == 0
        if values > MOST_VALUES:
            return True
    return False
