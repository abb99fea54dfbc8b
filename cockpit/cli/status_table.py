"""Format agents as a table whose columns are as narrow as their contents allow.

The last column has what an agent does or needs. On a narrow terminal the other columns make room
for it: empty columns are left out, and the context is shown without its bar, or as a percentage.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cockpit.cli.context_bar import Shown, format_band, format_figures, format_turns, is_known
from cockpit.core.safetext import ELLIPSIS, safe_line

_GAP = "  "
_HEADINGS = ("NAME", "STATE", "CONTEXT", "BAND", "TURNS")
_CONTEXT = _HEADINGS.index("CONTEXT")
_SHOWN: tuple[Shown, ...] = ("bar", "sizes", "percentage")
"""What the context shows: as much as fits."""


class Table:
    """Columns that fit every row added so far; `room` is the terminal's width, None if unlimited.

    A later row can widen a column, or add one that was empty, but never narrows or removes one.
    """

    def __init__(self, room: int | None = None) -> None:
        self.room = room
        self._is_known = False
        self._shown = _SHOWN[0]
        self._widths = [0] * len(_HEADINGS)
        self._figures = dict.fromkeys(_SHOWN, 0)
        self._text = 0

    def add(self, rows: Iterable[Row]) -> None:
        """Widen the columns to fit these rows."""
        for row in rows:
            widths = [len(cell) for cell in row.cells(_SHOWN[0])]
            self._widths = [max(pair) for pair in zip(self._widths, widths, strict=True)]
            for shown in _SHOWN:
                figures = len(row.cells(shown)[_CONTEXT])
                self._figures[shown] = max(self._figures[shown], figures)
            self._is_known |= row.is_known
            self._text = max(self._text, len(row.text))
        for shown in _SHOWN[_SHOWN.index(self._shown) :]:
            self._shown = shown
            if self.room is None or self._width() <= self.room:
                break

    def header(self) -> str:
        """Return the line with the titles of the columns."""
        return self._line(list(_HEADINGS), "DOING")

    def line(self, row: Row) -> str:
        """Return the row on one line, cut to the terminal's width."""
        return self._line(row.cells(self._shown), row.text)

    def _line(self, cells: list[str], text: str) -> str:
        columns = zip(cells, self._columns(), strict=True)
        shown = [f"{cell:<{width}}" for cell, width in columns if width]
        return _cut(_GAP.join([*shown, text]).rstrip(), self.room)

    def _width(self) -> int:
        return sum(width + len(_GAP) for width in self._columns() if width) + self._text

    def _columns(self) -> list[int]:
        """Return the width of each column; 0 for a column that is left out."""
        widths = list(self._widths)
        widths[_CONTEXT] = self._figures[self._shown] if self._is_known else 0
        return [
            max(width, len(title)) if width else 0
            for width, title in zip(widths, _HEADINGS, strict=True)
        ]


class Row:
    """The cells of one row: a name, a state, a context, and a text for the last column."""

    def __init__(self, name: str, state: str, context: dict[str, Any], text: str) -> None:
        self._name = safe_line(name)
        self._state = state
        self._context = context
        self.is_known = is_known(context)
        self.text = text

    def cells(self, shown: Shown) -> list[str]:
        """Return every cell but the last; an empty cell has nothing to show."""
        return [
            self._name,
            self._state,
            format_figures(self._context, shown),
            format_band(self._context),
            format_turns(self._context),
        ]


def _cut(line: str, room: int | None) -> str:
    """Return the line, cut with an ellipsis to `room` characters."""
    return line if room is None or len(line) <= room else line[: room - 1] + ELLIPSIS
