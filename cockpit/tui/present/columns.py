"""Which columns a row has at a given width, and how wide they are.

Columns give way in a fixed order as the screen narrows; the name, the bar and the state stay.
What is left over goes to the activity, the bar and the name, in that order of need.
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
"""The mark of the selection, the number to jump by, a space."""
GAP = 2
NAME_MOST = 20
FAR_NAME_LEAST = 20
"""Where names say their host too."""
BAR_NEEDED = 13
BAR_MOST = 40
ACTIVITY_LEAST = 16
ACTIVITY_WANTED = 28
STATE_WIDEST = 13

_GIVES_WAY = ("band", "trend", "age", "cost", "chain", "turns", "tokens", "activity", "percent")
"""First to go first."""

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
    """The columns of every row on a screen this wide, in order."""

    width: int
    columns: tuple[Column, ...]

    def has(self, key: str) -> bool:
        return any(column.key == key for column in self.columns)


def layout(rows: Sequence[Row], width: int) -> Layout:
    """The same rows at the same width always give the same columns."""
    needs = _needs(rows, width)
    present = [key for key in _ORDER if needs[key] and key != "mark"]
    for key in ("", *_GIVES_WAY):
        if key in present:
            _give_way(present, key, needs)
        if _total(present, needs) <= width:
            break
    if "percent" not in present and "mark" in present:
        present.remove("mark")
    return Layout(width, _grown(present, needs, width))


def _give_way(present: list[str], key: str, needs: dict[str, int]) -> None:
    """Take a column away. The band's word leaves its mark behind, beside the per cent."""
    if key == "band" and needs["mark"]:
        present[present.index(key)] = "mark"
    else:
        present.remove(key)


def _needs(rows: Sequence[Row], width: int) -> dict[str, int]:
    """The least width that each column can do with; 0 leaves out what nobody has."""
    needs = {key: _widest(rows, key) for key in _FLOOR}
    for key, floor in _FLOOR.items():
        needs[key] = max(needs[key], floor) if needs[key] else 0
    far = any("/" in row.name for row in rows)
    needs["name"] = min(max(_widest(rows, "name"), 6), FAR_NAME_LEAST if far else 12)
    needs["bar"] = min(max(10 + (width - 60) // 5, 10), BAR_NEEDED)
    needs["mark"] = 3 if any(row.mark for row in rows) else 0
    widest = max((cell_len(row.look.word) + 2 for row in rows), default=9)
    # Room for every word where there is room at all, so that columns stand still.
    needs["state"] = STATE_WIDEST if width >= 70 else widest
    needs["activity"] = ACTIVITY_LEAST if any(row.activity for row in rows) else 0
    return needs


def _widest(rows: Sequence[Row], key: str) -> int:
    return max((cell_len(getattr(row, key)) for row in rows), default=0)


def _total(keys: Sequence[str], needs: dict[str, int]) -> int:
    return LEAD + sum(needs[key] for key in keys) + GAP * (len(keys) - 1) + 1


def _grown(keys: list[str], needs: dict[str, int], width: int) -> tuple[Column, ...]:
    """Hand out what is left: readable activity first, then the bar, then the rest of it."""
    widths = {key: needs[key] for key in keys}
    left = width - _total(keys, needs)
    if left < 0:
        _shrink(widths, -left)
        left = 0
    if "activity" in widths:
        left = _grow(widths, "activity", ACTIVITY_WANTED, left)
    left = _grow(widths, "bar", BAR_MOST if width > 120 else 24, left)
    left = _grow(widths, "name", NAME_MOST if width > 120 else 14, left)
    if "activity" in widths:
        widths["activity"] += left
    return tuple(Column(key, _TITLES[key], widths[key], key in _RIGHT) for key in keys)


def _grow(widths: dict[str, int], key: str, most: int, left: int) -> int:
    more = max(0, min(most - widths[key], left))
    widths[key] += more
    return left - more


def _shrink(widths: dict[str, int], missing: int) -> None:
    """Narrower than anybody works: the bar, then the name, then the state give cells away."""
    for key, least in (("bar", 4), ("name", 4), ("state", 1)):
        less = max(0, min(widths[key] - least, missing))
        widths[key] -= less
        missing -= less
