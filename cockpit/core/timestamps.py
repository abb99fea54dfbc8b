"""Parse times in the files of other programs, and format times and durations.

A file can contain any number, and Python raises an error for a time outside the years 1 to 9999.
So a time before 1970 or after 2286 is treated as unknown. Formatting never raises.
"""

from __future__ import annotations

from datetime import UTC, datetime

LATEST = 1e10
"""The latest valid time, in Unix seconds (year 2286)."""


def unix_time(value: object) -> float | None:
    """Return unix seconds as a float; None for anything that is not a time in range."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LATEST:
        return None
    return float(value)


def unix_milliseconds(value: object) -> float | None:
    """Return unix milliseconds as seconds; None for anything that is not a time in range."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value / 1000 if 0 <= value <= LATEST * 1000 else None


def moment(value: object) -> datetime | None:
    """Parse an ISO 8601 text with a time zone; None for anything else, and for a time out of
    range."""
    if not isinstance(value, str):
        return None
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        return None
    return at if at.tzinfo is not None and 0 <= at.timestamp() <= LATEST else None


def rfc3339(seconds: float) -> str:
    """Format unix seconds as UTC, to the second. An invalid time becomes the nearest valid one."""
    return _utc(seconds).strftime("%Y-%m-%dT%H:%M:%SZ")


def clock_time(seconds: float) -> str:
    """Format unix seconds as a date and time in UTC, to the minute.

    An invalid time becomes the nearest valid one.
    """
    return _utc(seconds).strftime("%d %b %Y %H:%M UTC")


def duration(seconds: float) -> str:
    """Format a duration in its largest unit: `20 s`, `1.5 min`, `2 h`."""
    for size, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{seconds:.0f} s"


def _utc(seconds: float) -> datetime:
    known = min(seconds, LATEST) if seconds > 0 else 0.0  # 0 for NaN too
    return datetime.fromtimestamp(known, UTC)
