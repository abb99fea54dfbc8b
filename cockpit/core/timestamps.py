"""Times in the records, reports and status files of other programs, and times as text.

Such a file can hold any number, and Python raises an error for a time that is not between the years
1 and 9999. So a time before 1970 or after 2286 counts as unknown. Formatting never raises.
"""

from __future__ import annotations

from datetime import UTC, datetime

LATEST = 1e10
"""Unix seconds; in the year 2286."""


def unix_time(value: object) -> float | None:
    """Return unix seconds as a float; None for anything that is not a known time."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LATEST:
        return None
    return float(value)


def unix_milliseconds(value: object) -> float | None:
    """Return unix milliseconds as seconds; None for anything that is not a known time."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value / 1000 if 0 <= value <= LATEST * 1000 else None


def moment(value: object) -> datetime | None:
    """Return an ISO 8601 text with a time zone as a time; None for anything else."""
    if not isinstance(value, str):
        return None
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        return None
    return at if at.tzinfo is not None and 0 <= at.timestamp() <= LATEST else None


def rfc3339(seconds: float) -> str:
    """Unix seconds as UTC, to the second. A time out of range becomes the nearest known one."""
    return _utc(seconds).strftime("%Y-%m-%dT%H:%M:%SZ")


def clock_time(seconds: float) -> str:
    """Unix seconds as a date and time in UTC, to the minute; the range is that of `rfc3339`."""
    return _utc(seconds).strftime("%d %b %Y %H:%M UTC")


def _utc(seconds: float) -> datetime:
    known = min(seconds, LATEST) if seconds > 0 else 0.0  # also 0 for NaN
    return datetime.fromtimestamp(known, UTC)
