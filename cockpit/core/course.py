"""The context history of a session: token counts, oldest first, and a trend for the agent's row.

Points may be left out; gaps in the reply numbers show where.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, NamedTuple

TREND_CELLS = 8


class Point(NamedTuple):
    """One point of a session's context history: a token count, or a compaction."""

    at: datetime | None
    tokens: int
    kind: Literal["reply", "compacted"]
    """For `compacted`, `tokens` is the count before the compaction."""
    call: int = 0
    """Number of the main agent's last reply so far, from 1; 0 before the first reply."""


def thinned(points: Sequence[Point], most: int) -> list[Point]:
    """Return at most `most` points, spread evenly over the replies. `most` is at least 2.

    The newest point is always kept. Compactions are kept unless there are too many of them.
    """
    if len(points) <= most:
        return list(points)
    last = points[-1]
    # counts[n]: how many reply numbers are divisible by 2**n, but not by 2**(n + 1).
    counts = [0] * (last.call.bit_length() + 2)
    always = 1
    for point in points[:-1]:
        if point.kind == "reply" and point.call:
            counts[min((point.call & -point.call).bit_length() - 1, len(counts) - 1)] += 1
        else:
            always += 1
    kept, power = sum(counts) + always, 0
    while kept > most:
        kept -= counts[power]
        power += 1
        if 1 << power > last.call:
            return _spread(_of_power(points, power - 1), most)
    return _of_power(points, power)


def _of_power(points: Sequence[Point], power: int) -> list[Point]:
    """Return the last point, compactions, and replies whose number is a multiple of 2**power."""
    if power == 0:
        return list(points)
    rest = (1 << power) - 1
    kept = (point for point in points[:-1] if point.kind != "reply" or not point.call & rest)
    return [*kept, points[-1]]


def _spread(points: list[Point], most: int) -> list[Point]:
    return [*points[: -1 : -(-len(points) // (most - 1))], points[-1]]


class Trend:
    """A context history in a few steps of equal length; each value is the count at a step's end.

    Only the last step changes while a session grows, until all steps are used. Then the step length
    doubles, which halves the number of steps. The screen therefore seldom redraws the row.
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
        """Add a token count; with `again`, replace the newest value instead."""
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
