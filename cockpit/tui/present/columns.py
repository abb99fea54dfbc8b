"""The columns of an agent's row at a given width.

The widths of state, name, bar and percentage depend only on the width of the screen, and on whether
names include their host. On narrow screens, columns are dropped in a fixed order. The column for
the agent's activity takes all spare width.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len

from cockpit.core.deferred_dataclass import dataclass


class Column(NamedTuple):
    key: str
    width: int
    right: bool = False


LEAD = 4
"""Cells for the selection mark, the jump number and a space."""
GAP = 2
BAR_LEAST, BAR_MOST = 16, 32
BAR_FROM = 80
"""Screen width up to which the bar has its minimum width.

On a wider screen, the bar gets one of every eight further cells.
"""
NAME_LEAST, NAME_MOST = 10, 18
REMOTE_NAME_MIN = 20
"""Minimum width of the name column if names include their host."""
ACTIVITY_MIN = 12
PERCENT = 4
AGE = 3
COST = 5

_ORDER = ("state", "name", "bar", "percent", "activity", "age", "cost")
_DROP_ORDER = ("age", "cost", "activity", "percent")
"""Columns that can be dropped on a narrow screen, in this order."""
_RIGHT = {"percent", "age", "cost"}


@dataclass(frozen=True, slots=True)
class Layout:
    """The shown columns for a screen width, from the left."""

    width: int
    columns: tuple[Column, ...]


class Extent:
    """The widths of the longest age and cost of all rows, and whether any name includes a host."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int]] = {}
        self._ages: Counter[int] = Counter()
        self._costs: Counter[int] = Counter()
        self._remote = 0

    def clear(self) -> None:
        self._known.clear()
        self._ages.clear()
        self._costs.clear()
        self._remote = 0

    def put(self, name: str, age: str, cost: str) -> None:
        """Add a row, or replace the texts of a known row."""
        self.remove(name)
        widths = self._known[name] = (cell_len(age), cell_len(cost))
        self._ages[widths[0]] += 1
        self._costs[widths[1]] += 1
        self._remote += "/" in name

    def remove(self, name: str) -> None:
        """Remove a row. Idempotent."""
        widths = self._known.pop(name, None)
        if widths is None:
            return
        self._remote -= "/" in name
        for widths_of_all, width in zip((self._ages, self._costs), widths, strict=True):
            widths_of_all[width] -= 1
            if not widths_of_all[width]:
                del widths_of_all[width]

    @property
    def age(self) -> int:
        """The width of the longest age in cells; 0 if no row has an age."""
        return max(self._ages, default=0)

    @property
    def cost(self) -> int:
        """The width of the longest cost in cells; 0 if no row has a cost."""
        return max(self._costs, default=0)

    @property
    def has_hosts(self) -> bool:
        """Whether any agent's name includes a host."""
        return self._remote > 0


def layout(extent: Extent, width: int) -> Layout:
    """Return the columns that fit a screen of this width.

    `extent` has the widths of the rows' longest values.
    """
    widths = _widths(extent, width)
    shown = [key for key in _ORDER if widths[key]]
    for key in ("", *_DROP_ORDER):
        if key in shown:
            shown.remove(key)
        if _total(shown, widths) <= width:
            break
    spare = width - _total(shown, widths)
    if spare < 0:
        _shrink(widths, -spare)
    elif "activity" in shown:
        widths["activity"] += spare
    return Layout(width, tuple(Column(key, widths[key], key in _RIGHT) for key in shown))


def bar_width(width: int) -> int:
    """Return the width of a context bar, in cells, on a screen of this width."""
    return min(max(BAR_LEAST + (width - BAR_FROM) // 8, BAR_LEAST), BAR_MOST)


def _widths(extent: Extent, width: int) -> dict[str, int]:
    """Return the minimum width of each column; 0 for a column without values."""
    name = min(max(NAME_LEAST + (width - 60) // 10, NAME_LEAST), NAME_MOST)
    if extent.has_hosts:
        name = max(name, REMOTE_NAME_MIN)
    return {
        "state": 1,
        "name": name,
        "bar": bar_width(width),
        "percent": PERCENT,
        "activity": ACTIVITY_MIN,
        "age": _at_least(extent.age, AGE),
        "cost": _at_least(extent.cost, COST),
    }


def _at_least(widest: int, least: int) -> int:
    return max(widest, least) if widest else 0


def _total(keys: Sequence[str], widths: dict[str, int]) -> int:
    return LEAD + sum(widths[key] for key in keys) + sum(map(gap, keys[:-1])) + 1


def gap(key: str) -> int:
    """Return the number of blank cells between this column and the next one."""
    return 1 if key == "state" else GAP


def _shrink(widths: dict[str, int], missing: int) -> None:
    """Take cells from the bar, then from the name, for very narrow screens."""
    for key in ("bar", "name"):
        less = max(0, min(widths[key] - 4, missing))
        widths[key] -= less
        missing -= less
