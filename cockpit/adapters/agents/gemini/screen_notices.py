"""Recognise a usage limit on the screen, because neither hooks nor the transcript report it.

Gemini immediately asks whether to keep trying, while its title reports that it is working (0.61.0).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone

from cockpit.core.cli_events import CliEvent, TurnBroken
from cockpit.core.safetext import safe_line
from cockpit.ports.panes import Screen

_SGR = re.compile(r"\x1b\[[0-9;:]*m")
_LIMIT = re.compile(r"Usage limit reached for [^│\n]{1,80}")
_RESETS = re.compile(
    r"Access resets at (?P<hour>\d{1,2}):(?P<minute>\d\d)\s(?P<half>[AP]M)\s"
    r"(?:UTC|GMT)(?P<offset>[+-]\d{1,2}(?::\d\d)?)?"
)


def notices(screen: Screen, now: datetime) -> Sequence[CliEvent]:
    """Return an event for a usage limit on the screen; empty without one.

    The screen shows only the time of day of the reset; `now` determines the date.
    """
    text = "\n".join(_SGR.sub("", line) for line in screen.lines)
    limit = _LIMIT.search(text)
    if limit is None:
        return ()
    detail = safe_line(limit[0].strip().rstrip("."), 200)
    return (TurnBroken("rate_limit", detail, _reset(text, now)),)


def _reset(text: str, now: datetime) -> float | None:
    """Return the next occurrence of the dialog's time of day, in seconds since the epoch; None if
    the dialog has no time."""
    match = _RESETS.search(text)
    if match is None:
        return None
    hour = int(match["hour"]) % 12 + (12 if match["half"] == "PM" else 0)
    if hour > 23 or int(match["minute"]) > 59:
        return None
    zone = _zone(match["offset"])
    at = now.astimezone(zone).replace(
        hour=hour, minute=int(match["minute"]), second=0, microsecond=0
    )
    return (at if at > now - timedelta(minutes=1) else at + timedelta(days=1)).timestamp()


def _zone(offset: str | None) -> timezone:
    if not offset:
        return UTC
    hours, _, minutes = offset[1:].partition(":")
    away = min(timedelta(hours=int(hours), minutes=int(minutes or 0)), timedelta(hours=23))
    return timezone(away if offset[0] == "+" else -away)
