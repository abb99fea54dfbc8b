"""Format token counts for the screen, messages and documents."""

from __future__ import annotations


def token_count(count: int) -> str:
    """Format a count, rounded to a few digits: `950`, `9.5k`, `142k`, `1M`, `1.2M`."""
    if count < 1000:
        return str(count)
    if count < 9_950:
        return f"{count / 1000:.1f}k".replace(".0k", "k")
    if count < 999_500:
        return f"{count / 1000:.0f}k"
    return f"{count / 1_000_000:.1f}M".replace(".0M", "M")
