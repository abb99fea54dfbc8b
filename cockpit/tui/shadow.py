"""What stands on the terminal, cell by cell, so that only what differs need be sent to it.

Textual repaints whole lines of whole widgets. Over SSH that is most of the traffic; here it is
cut down to the cells that changed and the colours that changed with them. Works on the stream
that Textual writes: absolute moves, styled text, line ends. Whatever else comes is passed on as
it is, and everything known is forgotten. Pure: it holds cells and returns strings.
"""

from __future__ import annotations

import re
from functools import lru_cache

from rich.cells import cell_len

Cell = tuple[str, str]
"""What is in a cell and the pen it was written with; a wide run is in its first cell, and the
cells behind it have no text."""

_TOKEN = re.compile(
    r"\x1b\[(?P<row>\d+);(?P<column>\d+)H"
    r"|\x1b\[(?P<pen>[\d;]*)m"
    r"|(?P<end>\n)"
    r"|(?P<mode>\x1b\[\?[\d;]*\$?[hlp])"
    r"|(?P<text>[^\x1b\n\x00-\x08\x0b-\x1f\x7f-\x9f]+)"
    r"|(?P<other>.)",
    re.DOTALL,
)
_ALTERNATE_SCREEN = "1049"
_REWRITTEN = 4
"""An unchanged gap up to this wide is written again: a jump over it costs as much."""


class Shadow:
    """One terminal's picture. The cursor and the pen are known too, between two writes."""

    def __init__(self) -> None:
        self._rows: dict[int, list[Cell | None]] = {}
        self._at: tuple[int, int] | None = None
        self._pen = ""

    def forget(self) -> None:
        """Nothing is known any more; whatever comes next is sent in full."""
        self._rows.clear()
        self._at = None
        self._pen = ""

    def reduced(self, data: str) -> str:
        """What has to be sent for the terminal to look as if `data` had been."""
        out: list[str] = []
        x: int | None = None
        y, pen = 0, ""
        for token in _TOKEN.finditer(data):
            kind = token.lastgroup
            if kind == "text" and x is not None and cell_len(token["text"]):
                x = self._put(out, x, y, token["text"], pen)
            elif kind == "column":
                x, y = int(token["column"]) - 1, int(token["row"]) - 1
            elif kind == "pen":
                pen = "" if token["pen"] == "0" else token["pen"]
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
        if self._pen:
            out.append("\x1b[m")
            self._pen = ""
        return "".join(out)

    def _put(self, out: list[str], x: int, y: int, text: str, pen: str) -> int:
        """Write text where it differs; the column after it."""
        cells = _cells(text, pen)
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
                # An empty cell looks the same in every pen that has its ground.
                if text and (text != " " or _ground(self._pen) != own):
                    self._turn(out, own)
                out.append(text)
            # How wide a terminal draws what is wide is its own affair: the next place is named.
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

    def _turn(self, out: list[str], pen: str) -> None:
        if pen != self._pen:
            out.append(_turned(self._pen, pen))
            self._pen = pen


def _stretches(changed: list[int], cells: list[Cell]) -> list[tuple[int, int]]:
    """Changed cells as first and last of each stretch; small gaps of one pen are bridged.

    A run of wide characters is one cell with empty ones behind it: it is written whole or not.
    """
    found: list[tuple[int, int]] = []
    for i in changed:
        if not cells[i][0]:
            i = max(j for j in range(i) if cells[j][0])
        last = i
        while last + 1 < len(cells) and not cells[last + 1][0]:
            last += 1
        if found and i - found[-1][1] <= _REWRITTEN and _one_pen(cells[found[-1][1] : i + 1]):
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((i, last))
    return found


def _one_pen(cells: list[Cell]) -> bool:
    """Whether these can be written without turning the pen, or nearly."""
    return len({pen for text, pen in cells if text.strip()}) <= 1


@lru_cache(maxsize=4096)
def _cells(text: str, pen: str) -> list[Cell]:
    """One cell a character; where one of them is not one column wide, all as a single piece.

    What is wide, joined or combining is for the terminal to lay out: never cut inside it.
    Not to be changed by whoever gets it.
    """
    if text.isascii() or all(cell_len(char) == 1 for char in text):
        ground = _ground(pen)
        return [(char, ground if char == " " else pen) for char in text]
    return [(text, pen), *[("", pen)] * (cell_len(text) - 1)]


@lru_cache(maxsize=1024)
def _parts(pen: str) -> tuple[str, str, str]:
    """Attributes, foreground and background of a pen, each as its parameters."""
    attributes: list[str] = []
    foreground = background = ""
    codes = iter(pen.split(";") if pen else ())
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
def _ground(pen: str) -> str:
    """The pen of an empty cell: its foreground does not show, nor does whether it is bold."""
    attributes, foreground, background = _parts(pen)
    kept = [code for code in attributes.split(";") if code not in {"", "1", "2", "3"}]
    if kept:
        return ";".join(part for part in (";".join(kept), foreground, background) if part)
    return background


@lru_cache(maxsize=4096)
def _turned(old: str, new: str) -> str:
    """The shortest sequence from one pen to another."""
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
