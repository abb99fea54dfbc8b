"""Bounds the lines of a record that are parsed, and says what one that is not may have held.

An agent can write anything into its own record. `json.loads` holds the interpreter's lock until a
line is read, on whatever thread, and makes an object of every value. So the size of a line and the
number of its values are bounded; what goes over is `Skipped`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cockpit.core.session import SessionEvent, Skipped

Parse = Callable[[bytes], Sequence[SessionEvent] | Skipped]

LONGEST_LINE = 8 * 1024 * 1024
"""Bytes of a line that is parsed.

A reply is under 1 MB (128k tokens at most). Longer real lines are results with images, of up to
12 MB: no reading is made of them.
"""
MOST_VALUES = 50_000
"""Strings, numbers, lists and objects of a line that is parsed; real lines have some thousands."""
_WEIGHED_FROM = 64 * 1024
"""Bytes of a line that cannot hold too many values to matter."""
_STEP = 256 * 1024
"""Bytes that are looked at in one call, between which other threads run."""
_NEEDLES = (b'"assistant"', b'"compact_boundary"')
LOOK_BACK = max(map(len, _NEEDLES)) - 1
"""Bytes before a piece of a line that a needle across the edge may begin in."""


def parse_bounded(parse: Parse, line: bytes) -> Sequence[SessionEvent] | Skipped:
    """Parse a line, or skip one that has too many values."""
    if len(line) >= _WEIGHED_FROM and _has_too_many_values(line):
        return Skipped("too-many-values", reading=may_hold_reading(line))
    return parse(line)


def may_hold_reading(piece: bytes) -> bool:
    """Whether bytes of a line can be of a reply or a compaction.

    Quotes inside a string of JSON are escaped, so text that quotes a record does not count.
    """
    return any(needle in piece for needle in _NEEDLES)


def _has_too_many_values(line: bytes) -> bool:
    """Count values without parsing; what stands inside strings is not counted."""
    values, in_string, start = 0, False, 0
    while start < len(line):
        piece = line[start : start + _STEP]
        if (len(piece) - len(piece.rstrip(b"\\"))) % 2 and start + _STEP < len(line):
            piece = line[start : start + _STEP + 1]  # an escape is not cut in two
        start += len(piece)
        parts = piece.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        outside = b"".join(parts[1 if in_string else 0 :: 2])
        values += sum(outside.count(mark) for mark in (b",", b"[", b"{"))
        in_string ^= len(parts) % 2 == 0
        if values > MOST_VALUES:
            return True
    return False
