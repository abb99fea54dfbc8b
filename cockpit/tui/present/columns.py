"""The columns of an agent's row at a given width.

On narrow screens columns are dropped in a fixed order; name, bar and state always stay. Spare width
goes to the activity, the bar and the name, in that order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.cells import cell_len

from cockpit.tui.present.row import Row


class Column(NamedTuple):
    key: str
    title: str
    width: int
    right: bool = False


LEAD = 4
"""Cells for the selection mark, the jump number and a space."""
GAP = 2
NAME_MAX = 20
REMOTE_NAME_MIN = 20
"""Minimum width of the name column if names include their host."""
BAR_NEEDED = 13
BAR_MAX = 40
ACTIVITY_MIN = 16
ACTIVITY_READABLE = 28
STATE_WIDEST = 13

_DROP_ORDER = ("band", "trend", "age", "cost", "chain", "turns", "tokens", "activity", "percent")
"""Columns that can be dropped on a narrow screen, in this order."""

_TITLES = {
    "name": "",
    "bar": "context",
    "tokens": "tokens",
    "percent": "used",
    "band": "band",
    "mark": "",
    "trend": "trend",
    "turns": "turns",
    "chain": "no.",
    "state": "state",
    "activity": "doing",
    "age": "ago",
    "cost": "cost",
}
_RIGHT = {"tokens", "percent", "turns", "chain", "age", "cost"}
_FLOOR = {
    "tokens": 9,
    "percent": 4,
    "band": 6,
    "trend": 8,
    "turns": 7,
    "chain": 3,
    "age": 3,
    "cost": 5,
}
_ORDER = (
    "name", "bar", "tokens", "percent", "band", "mark", "trend", "turns", "chain", "state",
    "activity", "age", "cost",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns at a width, in order."""

    width: int
    columns: tuple[Column, ...]


def layout(rows: Sequence[Row], width: int) -> Layout:
    """Return the columns for these rows at a width. Deterministic."""
    needs = _needs(rows, width)
    present = [key for key in _ORDER if needs[key] and key != "mark"]
    for key in ("", *_DROP_ORDER):
        if key in present:
            _drop_column(present, key, needs)
        if _total(present, needs) <= width:
            break
    if "percent" not in present and "mark" in present:
        present.remove("mark")
    return Layout(width, _grown(present, needs, width))


def _drop_column(present: list[str], key: str, needs: dict[str, int]) -> None:
    """Drop a column. If the band is dropped, its short form is shown beside the percentage."""
    if key == "band" and needs["mark"]:
        present[present.index(key)] = "mark"
    else:
        present.remove(key)


def _needs(rows: Sequence[Row], width: int) -> dict[str, int]:
    """Return the minimum width of each column; 0 if no row has a value for it."""
    needs = {key: _widest(rows, key) for key in _FLOOR}
    for key, floor in _FLOOR.items():
        needs[key] = max(needs[key], floor) if needs[key] else 0
    is_remote = any("/" in row.name for row in rows)
    needs["name"] = min(max(_widest(rows, "name"), 6), REMOTE_NAME_MIN if is_remote else 12)
    needs["bar"] = min(max(10 + (width - 60) // 5, 10), BAR_NEEDED)
    needs["mark"] = 3 if any(row.mark for row in rows) else 0
    widest = max((cell_len(row.look.word) + 2 for row in rows), default=9)
    # Wide enough for every state, so that columns do not move when a state changes.
    needs["state"] = STATE_WIDEST if width >= 70 else widest
    needs["activity"] = ACTIVITY_MIN if any(row.activity for row in rows) else 0
    return needs


def _widest(rows: Sequence[Row], key: str) -> int:
    return max((cell_len(getattr(row, key)) for row in rows), default=0)


def _total(keys: Sequence[str], needs: dict[str, int]) -> int:
    return LEAD + sum(needs[key] for key in keys) + GAP * (len(keys) - 1) + 1


def _grown(keys: list[str], needs: dict[str, int], width: int) -> tuple[Column, ...]:
    """Distribute the spare width: activity up to a readable width, then bar, name, activity."""
    widths = {key: needs[key] for key in keys}
    spare = width - _total(keys, needs)
    if spare < 0:
        _shrink(widths, -spare)
        spare = 0
    if "activity" in widths:
        spare = _grow(widths, "activity", ACTIVITY_READABLE, spare)
    spare = _grow(widths, "bar", BAR_MAX if width > 120 else 24, spare)
    spare = _grow(widths, "name", NAME_MAX if width > 120 else 14, spare)
    if "activity" in widths:
        widths["activity"] += spare
    return tuple(Column(key, _TITLES[key], widths[key], key in _RIGHT) for key in keys)


def _grow(widths: dict[str, int], key: str, most: int, spare: int) -> int:
    more = max(0, min(most - widths[key], spare))
    widths[key] += more
    return spare - more


def _shrink(widths: dict[str, int], missing: int) -> None:
    """Take cells from the bar, then the name, then the state, for very narrow screens."""
    for key, least in (("bar", 4), ("name", 4), ("state", 1)):
        less = max(0, min(widths[key] - least, missing))
        widths[key] -= less
        missing -= less
