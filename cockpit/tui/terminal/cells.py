"""Track the terminal's cells, so that only changed cells are sent.

Textual repaints whole lines of whole widgets; over SSH that is most of the traffic. Parses the
stream that Textual writes: absolute moves, styled text, line ends. Other output is passed through
unchanged, and the known cells are dropped. Does no I/O: keeps cells and returns strings.
"""

from __future__ import annotations

import re
from functools import lru_cache

from rich.cells import cell_len

Cell = tuple[str, str]
"""The text and style of a cell. A run of wide characters is in the run's first cell; the run's
other cells have no text."""

_TOKEN = re.compile(
    r"\x1b\[(?P<row>\d+);(?P<column>\d+)H"
    r"|\x1b\[(?P<style>[\d;]*)m"
    r"|(?P<end>\n)"
    r"|(?P<mode>\x1b\[\?[\d;]*\$?[hlp])"
    r"|(?P<text>[^\x1b\n\x00-\x08\x0b-\x1f\x7f-\x9f]+)"
    r"|(?P<other>.)",
    re.DOTALL,
)
_ALTERNATE_SCREEN = "1049"
_REWRITTEN = 4
"""Maximum cells of an unchanged gap that is rewritten: moving the cursor costs as much."""


class ScreenDiff:
    """The known cells of one terminal, with its cursor and style between two writes."""

    def __init__(self) -> None:
        self._rows: dict[int, list[Cell | None]] = {}
        self._at: tuple[int, int] | None = None
        self._style = ""

    def forget(self) -> None:
        """Drop all known cells; the next write is sent in full."""
        self._rows.clear()
        self._at = None
        self._style = ""

    def reduced(self, data: str) -> str:
        """Return the shortest output with the same effect as `data`."""
        out: list[str] = []
        x: int | None = None
        y, style = 0, ""
        for token in _TOKEN.finditer(data):
            kind = token.lastgroup
            if kind == "text" and x is not None and cell_len(token["text"]):
                x = self._put(out, x, y, token["text"], style)
            elif kind == "column":
                x, y = int(token["column"]) - 1, int(token["row"]) - 1
            elif kind == "style":
                style = "" if token["style"] == "0" else token["style"]
            elif kind == "end":
                x = None
            elif kind == "mode":
                out.append(token["mode"])
                if _ALTERNATE_SCREEN in token["mode"]:
                    self.forget()
            else:
                self.forget()
                return data
        if x is not None:
            self._go(out, x, y)
        if self._style:
            out.append("\x1b[m")
            self._style = ""
        return "".join(out)

    def _put(self, out: list[str], x: int, y: int, text: str, style: str) -> int:
        """Write the cells that differ; return the column after the text."""
        cells = _cells(text, style)
        end = x + len(cells)
        row = self._rows.setdefault(y, [])
        if len(row) < end:
            row.extend([None] * (end - len(row)))
        if row[x:end] == cells:
            return end
        changed = [i for i, cell in enumerate(cells) if row[x + i] != cell]
        for first, last in _stretches(changed, cells):
            self._go(out, x + first, y)
            for text, own in cells[first : last + 1]:
                # A blank cell looks the same in every style with its background.
                if text and (text != " " or _ground(self._style) != own):
                    self._turn(out, own)
                out.append(text)
            # Terminals differ in the width of wide characters, so position the cursor after one.
            self._at = (x + last + 1, y) if len(cells[last][0]) == 1 else None
        row[x:end] = cells
        return end

    def _go(self, out: list[str], x: int, y: int) -> None:
        if self._at == (x, y):
            return
        if self._at and self._at[1] == y and x > self._at[0]:
            out.append(f"\x1b[{x - self._at[0]}C")
        else:
            out.append(f"\x1b[{y + 1};{x + 1}H")
        self._at = (x, y)

    def _turn(self, out: list[str], style: str) -> None:
        if style != self._style:
            out.append(_sgr_change(self._style, style))
            self._style = style


def _stretches(changed: list[int], cells: list[Cell]) -> list[tuple[int, int]]:
    """Return the first and last cell of each changed run; small gaps in one style are included.

    A run of wide characters is written as a whole: its text is in its first cell.
    """
    found: list[tuple[int, int]] = []
    for i in changed:
        if not cells[i][0]:
            i = max(j for j in range(i) if cells[j][0])
        last = i
        while last + 1 < len(cells) and not cells[last + 1][0]:
            last += 1
        if found and i - found[-1][1] <= _REWRITTEN and _one_style(cells[found[-1][1] : i + 1]):
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((i, last))
    return found


def _one_style(cells: list[Cell]) -> bool:
    """Return whether these cells have one style, ignoring blanks."""
    return len({style for text, style in cells if text.strip()}) <= 1


@lru_cache(maxsize=4096)
def _cells(text: str, style: str) -> list[Cell]:
    """Return one cell per character, or one for the whole text if a character is not one column.

    The terminal lays out wide, joined and combining characters, so they are never split.
    Cached: callers must not modify the result.
    """
    if text.isascii() or all(cell_len(char) == 1 for char in text):
        ground = _ground(style)
        return [(char, ground if char == " " else style) for char in text]
    return [(text, style), *[("", style)] * (cell_len(text) - 1)]


@lru_cache(maxsize=1024)
def _parts(style: str) -> tuple[str, str, str]:
    """Return a style's attributes, foreground and background, each as SGR parameters."""
    attributes: list[str] = []
    foreground = background = ""
    codes = iter(style.split(";") if style else ())
    for code in codes:
        if code in {"38", "48"}:
            kind = next(codes, "")
            values = [next(codes, "") for _ in range(3 if kind == "2" else 1)]
            colour = ";".join((code, kind, *values))
            foreground, background = (colour, background) if code == "38" else (foreground, colour)
        elif len(code) > 1 and code[:-1] in {"3", "9"}:
            foreground = code
        elif len(code) > 1 and code[:-1] in {"4", "10"}:
            background = code
        else:
            attributes.append(code)
    return ";".join(attributes), foreground, background


@lru_cache(maxsize=1024)
def _ground(style: str) -> str:
    """Return the style of a blank cell: without foreground and bold, which are not visible."""
    attributes, foreground, background = _parts(style)
    kept = [code for code in attributes.split(";") if code not in {"", "1", "2", "3"}]
    if kept:
        return ";".join(part for part in (";".join(kept), foreground, background) if part)
    return background


@lru_cache(maxsize=4096)
def _sgr_change(old: str, new: str) -> str:
    """Return the shortest SGR sequence that changes one style into another."""
    old_attributes, old_foreground, old_background = _parts(old)
    attributes, foreground, background = _parts(new)
    if old_attributes != attributes:
        return f"\x1b[0;{new}m" if new else "\x1b[m"
    codes = []
    if old_foreground != foreground:
        codes.append(foreground or "39")
    if old_background != background:
        codes.append(background or "49")
    return f"\x1b[{';'.join(codes)}m"
