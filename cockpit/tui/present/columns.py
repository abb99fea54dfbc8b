"""The columns of an agent's row at a given width.

The columns for state, name, bar and percentage never move: their widths depend only on the width of
the screen. On narrow screens the other columns are dropped in a fixed order. The column for the
agent's activity takes all spare width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.cells import cell_len

from cockpit.tui.present.row import Row


class Column(NamedTuple):
    key: str
    width: int
    right: bool = False


LEAD = 4
"""Cells for the selection mark, the jump number and a space."""
GAP = 2
BAR_LEAST, BAR_MOST = 16, 32
BAR_FROM = 80
"""Up to this many columns of the screen, the bar has its minimum width.

Of every further eight columns, the bar gets one.
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
    """The columns at a width, in order."""

    width: int
    columns: tuple[Column, ...]


def layout(rows: Sequence[Row], width: int) -> Layout:
    """Return the columns for these rows at a width. Deterministic."""
    widths = _widths(rows, width)
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
    """Return the cells of a bar on a screen of this width."""
    return min(max(BAR_LEAST + (width - BAR_FROM) // 8, BAR_LEAST), BAR_MOST)


def _widths(rows: Sequence[Row], width: int) -> dict[str, int]:
    """Return the minimum width of each column; 0 for one that no row has a value for."""
    name = min(max(NAME_LEAST + (width - 60) // 10, NAME_LEAST), NAME_MOST)
    if any("/" in row.name for row in rows):
        name = max(name, REMOTE_NAME_MIN)
    return {
        "state": 1,
        "name": name,
        "bar": bar_width(width),
        "percent": PERCENT,
        "activity": ACTIVITY_MIN,
        "age": _widest(rows, "age", AGE),
        "cost": _widest(rows, "cost", COST),
    }


def _widest(rows: Sequence[Row], key: str, least: int) -> int:
    widest = max((cell_len(getattr(row, key)) for row in rows), default=0)
    return max(widest, least) if widest else 0


def _total(keys: Sequence[str], widths: dict[str, int]) -> int:
    return LEAD + sum(widths[key] for key in keys) + sum(map(gap, keys[:-1])) + 1


def gap(key: str) -> int:
    """Return the cells after a column that is not the last one."""
    return 1 if key == "state" else GAP


def _shrink(widths: dict[str, int], missing: int) -> None:
    """Take cells from the bar, then from the name, for very narrow screens."""
    for key in ("bar", "name"):
        less = max(0, min(widths[key] - 4, missing))
        widths[key] -= less
        missing -= less
