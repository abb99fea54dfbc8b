"""Parse lines of the documented record format; see `core.own_record`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from cockpit.core import own_record
from cockpit.core.session import SessionEvent, Skipped

_lines = count(1)


def parse(line: bytes) -> Sequence[SessionEvent] | Skipped:
    """Parse a line, without the newline. Never raises. A reply without an id gets a unique id."""
    return own_record.parse(line, f"line-{next(_lines)}")
