"""The context bar as text: fill, a notch at each threshold, and where the CLI compacts.

Without a token count, the bar is a dashed line, neither empty nor full; with an assumed window, the
bar is hatched; with an old token count, the bar has the stale colour.
"""

from __future__ import annotations

from cockpit.tui.present.span import Span, merged
from cockpit.wire.status import ContextStatus

EIGHTHS = " ▏▎▍▌▋▊▉█"
NOTCH = "▏"
COMPACTS = "┃"
UNKNOWN = "╌"
HATCHED = "▒"


def context_bar(context: ContextStatus, width: int, *, stale: bool = False) -> list[Span]:
    """Return the bar in exactly `width` cells, without a track beyond the compaction point."""
    if width <= 0:
        return []
    if context.tokens is None or not context.window:
        return [Span(UNKNOWN * width, "bar-unknown")]
    share = context.tokens / context.window
    eighths = min(round(share * width * 8), width * 8)
    if context.tokens:
        eighths = max(eighths, 1)
    band = "stale" if stale else context.band
    fill = HATCHED if context.confidence == "assumed" else EIGHTHS[8]
    notches = _notches(context, width)
    end = _cell(context.compacts_at, context.window, width)
    return merged([_part(cell, eighths, fill, band, notches, end) for cell in range(width)])


def _part(
    cell: int, eighths: int, fill: str, band: str, notches: dict[int, str], end: int | None
) -> Span:
    filled = eighths - cell * 8
    if cell == end:
        return Span(COMPACTS, f"bar-{band}-end" if filled >= 8 else "bar-end")
    if filled >= 8:
        notched = cell in notches and fill == EIGHTHS[8]
        return Span(NOTCH, f"bar-{band}-notch") if notched else Span(fill, f"bar-{band}")
    void = end is not None and cell > end
    if filled > 0:
        return Span(EIGHTHS[filled] if fill == EIGHTHS[8] else fill, f"bar-{band}")
    if void:
        return Span(" ")
    return Span(NOTCH, f"bar-track-{notches[cell]}") if cell in notches else Span(" ", "bar-track")


def _notches(context: ContextStatus, width: int) -> dict[int, str]:
    """Return the cells with a threshold at their left edge.

    If two thresholds are in one cell, returns the higher one.
    """
    marks = context.marks
    window = context.window or 1
    cells: dict[int, str] = {}
    for name, at in (
        ("notice", marks.notice),
        ("warn", marks.warn),
        ("act", marks.act),
        ("force", marks.force),
    ):
        cell = _cell(at, window, width)
        if cell is not None:
            cells[cell] = name
    return cells


def _cell(at: int | None, window: int, width: int) -> int | None:
    if at is None or at <= 0:
        return None
    cell = round(at / window * width)
    return cell if 0 < cell < width else None
