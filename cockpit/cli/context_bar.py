"""Format an agent's context use as a bar and numbers, for line-by-line output.

An unknown value is shown as unknown, not as an empty bar or zero.
"""

from __future__ import annotations

from typing import Any

from cockpit.core.token_counts import token_count

_CELLS = 10


def format_context(context: dict[str, Any]) -> str:
    """Return `███████░░░  71%  142k/200k   act     ~6 left`, padded to a fixed width.

    A `?` after the percentage means that the size of the window is assumed.
    """
    used, tokens, window = context.get("used"), context.get("tokens"), context.get("window")
    if used is None:
        figures = f"{'·' * _CELLS}    ?  {_size(tokens)}/{_size(window)}"
    else:
        guess = "?" if context.get("confidence") == "assumed" else " "
        figures = f"{bar(used)} {used:>4.0%}{guess} {_size(tokens)}/{_size(window)}"
    return f"{figures:<29}{context.get('band', 'unknown'):<8}{_turns(context):<9}"


HEADER = f"{'CONTEXT':<29}{'BAND':<8}{'TURNS':<9}"
"""The column titles for `format_context`."""


def bar(used: float) -> str:
    """Return ten cells, filled in proportion to `used`, from 0 to 1. Only 1 fills all ten."""
    filled = min(_CELLS, int(used * _CELLS))
    return "█" * filled + "░" * (_CELLS - filled)


def _size(tokens: int | None) -> str:
    return "?" if tokens is None else token_count(tokens)


def _turns(context: dict[str, Any]) -> str:
    left = context.get("turns_left")
    return "" if left is None else f"~{left} left"
