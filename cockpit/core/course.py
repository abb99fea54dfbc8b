"""The context history of a session: its token counts in order, and a trend for the screen's row.

Points may be left out; the reply numbers of the other points show where.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, NamedTuple

TREND_CELLS = 8


class Point(NamedTuple):
    """One token count, or one compaction."""

    at: datetime | None
    tokens: int
    kind: Literal["reply", "compacted"]
    """For `compacted`, `tokens` is the count before the compaction."""
    call: int = 0
    """Number of the main agent's reply, from 1."""


def thinned(points: Sequence[Point], most: int) -> list[Point]:
    """Keep at most `most` points (two or more), spread evenly over the replies.

    The newest point is always kept. Compactions are kept unless there are too many of them.
    """
    kept, stride = list(points), 1
    while len(kept) > most:
        stride *= 2
        if stride > points[-1].call:
            return [*kept[: -1 : -(-len(kept) // (most - 1))], points[-1]]
        kept = [
            *(point for point in points[:-1] if point.kind != "reply" or point.call % stride == 0),
            points[-1],
        ]
    return kept


class Trend:
    """A context history in a few steps of equal length; each value is the count at a step's end.

    Only the last step changes while a session grows. When all steps are used, they become twice as
    long. So the row is seldom redrawn.
    """

    __slots__ = ("_cells", "_count", "_step", "_values")

    def __init__(self, cells: int = TREND_CELLS) -> None:
        """Create an empty trend. `cells`, the maximum number of steps, is even."""
        self._cells = cells
        self._count = 0
        self._step = 1
        self._values: list[int] = []

    @property
    def values(self) -> tuple[int, ...]:
        """The token counts of the trend, oldest first."""
        return tuple(self._values)

    def take(self, tokens: int, *, again: bool = False) -> None:
        """Add a token count; with `again`, replace the last token count."""
        if again and self._values:
            self._values[-1] = tokens
            return
        if self._count == self._cells * self._step:
            self._values = self._values[1::2]
            self._step *= 2
        if self._count % self._step == 0:
            self._values.append(tokens)
        self._values[-1] = tokens
        self._count += 1
