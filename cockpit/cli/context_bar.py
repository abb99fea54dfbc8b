"""Format an agent's context use as a bar and numbers, for line-by-line output.

An unknown value is shown as unknown, not as an empty bar or zero.
"""

from __future__ import annotations

from typing import Any, Literal

from cockpit.core.token_counts import token_count

_CELLS = 10
Shown = Literal["bar", "sizes", "percentage"]
"""What to show of a context: the bar with all numbers, all numbers, or the percentage only."""


def format_figures(context: dict[str, Any], shown: Shown = "bar") -> str:
    """Return `███████░░░  71%  142k/200k`, or less of it: without the bar, or the percentage only.

    A `?` after the percentage means that the size of the window is assumed.
    """
    used, tokens, window = context.get("used"), context.get("tokens"), context.get("window")
    cells = "·" * _CELLS if used is None else bar(used)
    percent = "?" if used is None else f"{used:.0%}"
    guess = "?" if used is not None and context.get("confidence") == "assumed" else " "
    if shown == "percentage":
        return f"{percent:>4}{guess}".rstrip()
    figures = f"{percent:>4}{guess} {_size(tokens)}/{_size(window)}"
    return f"{cells} {figures}" if shown == "bar" else figures


def is_known(context: dict[str, Any]) -> bool:
    """Return whether `format_figures` has a figure to show."""
    return any(context.get(key) is not None for key in ("used", "tokens", "window"))


def format_band(context: dict[str, Any]) -> str:
    """Return the band's name."""
    return str(context.get("band", "unknown"))


def format_turns(context: dict[str, Any]) -> str:
    """Return `~6 left`; an empty text if the number is unknown."""
    left = context.get("turns_left")
    return "" if left is None else f"~{left} left"


def bar(used: float) -> str:
    """Return ten cells, filled in proportion to `used`, from 0 to 1. Only 1 fills all ten."""
    filled = min(_CELLS, int(used * _CELLS))
    return "█" * filled + "░" * (_CELLS - filled)


def _size(tokens: int | None) -> str:
    return "?" if tokens is None else token_count(tokens)
