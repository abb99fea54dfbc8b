"""The course of a session: its readings in order, thinned out, and a short form of it for a row.

Knows nothing of windows, bands or how a course is drawn. What is left out can be told, because
each point says which reply of the session it belongs to.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, NamedTuple

TREND_CELLS = 8


class Point(NamedTuple):
    """One step of the context over time."""

    at: datetime | None
    tokens: int
    kind: Literal["reply", "compacted"]
    """At `compacted`, the tokens before the compaction."""
    call: int = 0
    """How many replies of the main chain there had been, this one included."""


def thinned(points: Sequence[Point], most: int) -> list[Point]:
    """At most `most` (two or more) of them, evenly over the replies.

    The newest always stays, and so do compactions until they alone are too many.
    """
    kept, stride = list(points), 1
    while len(kept) > most:
        stride *= 2
        if stride > points[-1].call:
            return [*kept[: -1 : -(-len(kept) // (most - 1))], points[-1]]
        kept = [
            *(each for each in points[:-1] if each.kind != "reply" or each.call % stride == 0),
            points[-1],
        ]
    return kept


class Trend:
    """A course in a few steps of equal length: each is the reading at its end.

    While a session grows the last step changes; only when there is no room for another one are
    all of them made twice as long, so that a row that shows it seldom differs.
    """

    __slots__ = ("_cells", "_count", "_step", "_values")

    def __init__(self, cells: int = TREND_CELLS) -> None:
        """`cells` is even."""
        self._cells = cells
        self._count = 0
        self._step = 1
        self._values: list[int] = []

    @property
    def values(self) -> tuple[int, ...]:
        """Tokens, oldest first."""
        return tuple(self._values)

    def take(self, tokens: int, *, again: bool = False) -> None:
        """The next reading; `again` when it is a better word for the last one."""
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
