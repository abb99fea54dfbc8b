"""Format numbers and times for display."""

from __future__ import annotations

from datetime import datetime

from cockpit.core.token_counts import token_count
from cockpit.wire.status import HandoffStatus

DASH = "–"
"""The text for an unknown value."""


def tokens(count: int | None) -> str:
    """Format a token count; a dash for an unknown count."""
    return DASH if count is None else token_count(count)


def disk_space(count: int) -> str:
    """Format bytes in decimal units: `0 B`, `4.1 kB`, `12 MB`, `2.1 GB`."""
    if count < 1000:
        return f"{count} B"
    amount, unit = count / 1000, "kB"
    for larger in ("MB", "GB", "TB"):
        if amount < 999.5:
            break
        amount, unit = amount / 1000, larger
    return f"{amount:.1f} {unit}" if amount < 9.95 else f"{amount:.0f} {unit}"


def percent(share: float | None) -> str:
    """Format a fraction as whole per cent; a dash for None.

    A fraction between 0 and 1% gives `1%`. The result can exceed 100%.
    """
    if share is None:
        return DASH
    if 0 < share < 0.01:
        return "1%"
    return f"{share * 100:.0f}%"


def money(dollars: float | None) -> str:
    if dollars is None:
        return DASH
    return f"${dollars:.2f}" if dollars < 1000 else f"${dollars:,.0f}"


def age(seconds: float | None) -> str:
    """Format an age as `now`, `5m`, `2h` or `3d`; a dash for None.

    Without seconds, so that an idle screen is not redrawn.
    """
    if seconds is None:
        return DASH
    minutes = int(seconds // 60)
    if minutes < 1:
        return "now"
    if minutes < 60:
        return f"{minutes}m"
    if minutes < 48 * 60:
        return f"{minutes // 60}h"
    return f"{minutes // (24 * 60)}d"


def seconds_since(moment: str | None, now: datetime) -> float | None:
    """Return the seconds since a time; None if missing, invalid or without a zone. At least 0."""
    if not moment:
        return None
    try:
        then = datetime.fromisoformat(moment)
    except (ValueError, OverflowError):
        return None
    if then.tzinfo is None:
        return None
    return max(0.0, (now - then).total_seconds())


def clock(moment: str) -> str:
    """Return the local time of day of an RFC 3339 time; `--:--` if invalid."""
    try:
        return datetime.fromisoformat(moment).astimezone().strftime("%H:%M")
    except (ValueError, OverflowError):
        return "--:--"


def snoozed(handoff: HandoffStatus | None) -> str | None:
    """Return `snoozed until …` for a handoff's question; None if the question is not snoozed."""
    if handoff is None:
        return None
    if handoff.snoozed_until_tokens is not None:
        return f"snoozed until {tokens(handoff.snoozed_until_tokens)} tokens"
    return f"snoozed until {clock(handoff.snoozed_until)}" if handoff.snoozed_until else None


def stamp(moment: str) -> str:
    """Return the local date and time of an RFC 3339 time; empty if invalid."""
    try:
        return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError):
        return ""


def until(moment: str, now: datetime) -> str:
    """Format an end time in the local time zone, with the date if not today; `--:--` if invalid."""
    try:
        end = datetime.fromisoformat(moment).astimezone()
    except (ValueError, OverflowError):
        return "--:--"
    return end.strftime("%H:%M" if end.date() == now.astimezone().date() else "%m-%d %H:%M")
