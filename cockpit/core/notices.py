"""Notifications to the user: one message for several events, and quiet hours."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cockpit.core.safetext import safe_line

TOGETHER = 10.0
"""Seconds during which events are collected into one message."""
SHOWN = 20
"""Maximum events that one message lists. With more events, the last line counts the rest."""

_QUIET = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)")
_DAY = 24 * 60


def digest(texts: Sequence[str]) -> tuple[str, str]:
    """Return title and body of one message about the events with these texts."""
    lines = [safe_line(text, 300) for text in texts]
    if len(lines) == 1:
        return "cockpit", lines[0]
    shown = [f"- {line}" for line in lines[:SHOWN]]
    if len(lines) > SHOWN:
        shown.append(f"and {len(lines) - SHOWN} more")
    return f"cockpit: {len(lines)} events", "\n".join(shown)


def quiet_hours(text: str) -> tuple[int, int] | None:
    """Parse two times (`22:00-07:00`) to minutes after midnight; None for empty text.

    Raises `ValueError` for any other text.
    """
    if not text:
        return None
    match = _QUIET.fullmatch(text)
    if match is None:
        raise ValueError('expected two times of day, such as "22:00-07:00"')
    from_hour, from_minute, to_hour, to_minute = map(int, match.groups())
    return from_hour * 60 + from_minute, to_hour * 60 + to_minute


def minutes_of_quiet(quiet: tuple[int, int] | None, minute: int) -> int:
    """Return the minutes until the quiet hours end; 0 outside the quiet hours.

    `minute` is the current time, in minutes after midnight.
    """
    if quiet is None:
        return 0
    begins, ends = quiet
    if (minute - begins) % _DAY < (ends - begins) % _DAY:
        return (ends - minute) % _DAY
    return 0
