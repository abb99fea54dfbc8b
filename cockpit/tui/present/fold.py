"""Wrap untrusted lines, with control characters removed."""

from __future__ import annotations

from rich.cells import cell_len, chop_cells

from cockpit.core.safetext import safe_line

TAB = 4
LONGEST = 4000
"""Maximum characters of one line; a longer line is cut."""


def worded(text: str, width: int) -> list[str]:
    """Wrap a line of prose, between words if possible."""
    lines = [""]
    for word in safe_line(text.expandtabs(TAB), LONGEST).split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(joined) <= width or width <= 1:
            lines[-1] = joined
        else:
            lines += chop_cells(word, width)
    return [line for line in lines if line] or [""]


def folded(text: str, width: int, *, indent: int = 0) -> list[str]:
    """Wrap a line after `width` cells; continuation lines start with `indent` spaces."""
    line = safe_line(text.expandtabs(TAB), LONGEST)
    if cell_len(line) <= width or width <= indent + 1:
        return [line]
    first, *_ = chop_cells(line, width)
    rest = chop_cells(line[len(first) :], width - indent)
    return [first, *(" " * indent + part for part in rest)]
