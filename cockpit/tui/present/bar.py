"""The context bar as text: a thin line, with marks for the act threshold and compaction.

Without a token count or a window, the whole bar is a dashed line. With an assumed window, only the
filled part is dashed. With an old token count, the filled part has the stale colour.
"""

from __future__ import annotations

from cockpit.tui.present.span import Span, merged
from cockpit.wire.status import ContextStatus

FILL = "━"
HALF = "╸"
TRACK = "─"
TICK = "┊"
PASSED = "┿"
"""The mark of the act threshold inside the filled part."""
COMPACTS = "┃"
UNKNOWN = "╌"
ASSUMED = "╍"


def context_bar(context: ContextStatus, width: int, *, stale: bool = False) -> list[Span]:
    """Return the bar in exactly `width` cells.

    Unfilled cells beyond the compaction point are blank. `stale`: the token count is old.
    """
    if width <= 0:
        return []
    if context.tokens is None or not context.window:
        return [Span(UNKNOWN * width, "bar-unknown")]
    halves = min(round(context.tokens / context.window * width * 2), width * 2)
    if context.tokens:
        halves = max(halves, 1)
    band = "stale" if stale else context.band
    fill = ASSUMED if context.confidence == "assumed" else FILL
    tick = _cell(context.marks.act, context.window, width)
    end = _cell(context.compacts_at, context.window, width)
    for at, cell in ((context.marks.act, tick), (context.compacts_at, end)):
        if at is not None and cell is not None:
            # A rounded bar must not end on the wrong side of a threshold.
            past = context.tokens >= at
            halves = max(halves, cell * 2 + 1) if past else min(halves, cell * 2)
    return merged([_part(cell, halves - cell * 2, fill, band, tick, end) for cell in range(width)])


def _part(cell: int, filled: int, fill: str, band: str, tick: int | None, end: int | None) -> Span:
    """Return one cell; `filled` is the number of filled half cells from this cell on."""
    if cell == end:
        return Span(COMPACTS, f"bar-{band}" if filled >= 1 else "bar-end")
    if cell == tick:
        return Span(PASSED, f"bar-{band}") if filled >= 1 else Span(TICK, "bar-act-tick")
    if filled >= 1:
        return Span(fill if filled >= 2 or fill == ASSUMED else HALF, f"bar-{band}")
    return Span(" ") if end is not None and cell > end else Span(TRACK, "bar-track")


def _cell(at: int | None, window: int, width: int) -> int | None:
    if at is None or at <= 0:
        return None
    cell = round(at / window * width)
    return cell if 0 < cell < width else None
