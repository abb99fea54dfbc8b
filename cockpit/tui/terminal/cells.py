"""Track the terminal's cells, so that only changed cells are sent.

Textual repaints whole lines of whole widgets; over SSH that is most of the traffic. Parses the
stream that Textual writes: absolute moves, styled text, line ends, modes. Other output is passed
through unchanged, and the known cells are dropped. The module does no I/O: it returns strings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from rich.cells import cell_len

Cell = tuple[str, str]
"""The text and style of a cell. A text with a character that is not one column wide is stored whole
in its first cell; its other cells have no text."""

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
"""Maximum cells of an unchanged gap that is rewritten: moving the cursor over the gap takes as many
bytes."""
_FILLED, _FILLED_WHEN_LARGE = 3, 20
"""Up to this many blank cells before a piece are written, not skipped: moving the cursor costs more
bytes. The limit of a large write is higher: tmux draws an erased cell in the default colour, with
two changes of colour whenever tmux redraws the whole screen."""
_SORTED = 48
"""A write with more pieces than this is not sorted: the time grows with the square of the number.
"""
_BLANK, _BLANK_WHEN_LARGE = re.compile(r" {12,}"), re.compile(r" {40,}")
"""Runs of blank cells that are erased. Writing a shorter run costs no more than the erase sequence
and the cursor move after it; in a large write, no more than the changes of colour when tmux redraws
the whole screen."""


class _Piece(NamedTuple):
    """Adjacent cells of one row in one style, to be written at once."""

    y: int
    x: int
    style: str
    text: str
    width: int
    is_erased: bool = False
    """Whether these are blank cells, which are erased instead of written."""
    is_narrow: bool = True
    """Whether each character is one column wide."""


class ScreenDiff:
    """The known cells of one terminal, with the cursor position and style between two writes."""

    def __init__(self, *, erases: bool = False) -> None:
        """`erases`: the terminal erases cells in the current background colour (ECH and BCE)."""
        self._erases = erases
        self._rows: dict[int, list[Cell | None]] = {}
        self._at: tuple[int, int] | None = None
        self._style = ""
        self._pieces: list[_Piece] = []
        """Pieces still to be written; they do not overlap."""
        self._filled = _FILLED
        self._ends: dict[int, int] = {}
        """The column after the last piece of each row."""

    def forget(self) -> None:
        """Drop all known cells; the next write is sent in full."""
        self._rows.clear()
        self._at = None
        self._style = ""

    def reduced(self, data: str) -> str:
        """Return output with the same effect as `data`, without cells that are already shown.

        Data with an unknown sequence is returned unchanged, and the known cells are dropped.
        """
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
                self._write(out)
                out.append(token["mode"])
                if _ALTERNATE_SCREEN in token["mode"]:
                    self.forget()
            else:
                self._pieces.clear()
                self._ends.clear()
                self.forget()
                return data
        self._write(out)
        if x is not None:
            self._go(out, x, y)
        if self._style:
            out.append("\x1b[m")
            self._style = ""
        return "".join(out)

    def _put(self, out: list[str], x: int, y: int, text: str, style: str) -> int:
        """Queue the cells that differ from the known cells; return the column after the text."""
        cells = _cells(text, style)
        end = x + len(cells)
        row = self._rows.setdefault(y, [])
        if len(row) < end:
            row.extend([None] * (end - len(row)))
        if row[x:end] == cells:
            return end
        if x < self._ends.get(y, 0):  # may overlap a queued piece
            self._write(out)
        changed = [i for i, cell in enumerate(cells) if row[x + i] != cell]
        for first, last in _stretches(changed, cells):
            for piece in _pieces(x + first, y, cells[first : last + 1]):
                joined = _joined(self._pieces[-1], piece) if self._pieces else None
                if joined is not None:
                    self._pieces.pop()
                self._pieces.append(joined or piece)
            self._ends[y] = x + last + 1
        row[x:end] = cells
        return end

    def _write(self, out: list[str]) -> None:
        """Write all queued pieces to `out`.

        Up to `_SORTED` pieces are sorted: the piece that costs the fewest bytes comes next. More
        pieces are written in their original order.
        """
        left, self._pieces = self._pieces, []
        self._ends.clear()
        is_large = len(left) > _SORTED
        if self._erases:
            blank = _BLANK_WHEN_LARGE if is_large else _BLANK
            left = [part for piece in left for part in _with_erasures(piece, blank)]
        if is_large:
            self._filled = _FILLED_WHEN_LARGE
            for piece in left:
                self._write_piece(out, piece)
            self._filled = _FILLED
            return
        while left:
            cheapest = min(left, key=self._cost)
            left.remove(cheapest)
            self._write_piece(out, cheapest)

    def _cost(self, piece: _Piece) -> tuple[bool, int]:
        """Return a sort key: the estimated bytes to reach a piece and change to its style.

        Pieces with attributes come last, because turning an attribute off sends the colours again.
        """
        cost = 0
        if self._at != (piece.x, piece.y):
            cost = 5 if self._at is not None and self._at[1] == piece.y else 7
        if self._suits(piece):
            return False, cost
        return _parts(piece.style)[0] != "", cost + len(_sgr_change(self._style, piece.style))

    def _suits(self, piece: _Piece) -> bool:
        """Return whether a piece looks the same in the current style as in the piece's own."""
        if piece.style == self._style:
            return True
        # A blank cell looks the same in every style with its background.
        return (piece.is_erased or not piece.text.strip(" ")) and _ground(
            self._style
        ) == piece.style

    def _write_piece(self, out: list[str], piece: _Piece) -> None:
        if not self._fill(out, piece):
            self._go(out, piece.x, piece.y)
        if not self._suits(piece):
            style = piece.style if piece.text.strip(" ") else _blank(self._style, piece.style)
            out.append(_sgr_change(self._style, style))
            self._style = style
        if piece.is_erased:  # erasing does not move the cursor
            out.append(f"\x1b[{piece.width}X")
            return
        out.append(piece.text)
        # Terminals differ in the width of wide characters, so position the cursor after one.
        self._at = (piece.x + piece.width, piece.y) if piece.is_narrow else None

    def _fill(self, out: list[str], piece: _Piece) -> bool:
        """Write the blank cells before a piece, if they are few and the current style suits them;
        return whether the cursor is now at the piece."""
        if self._at is None or piece.is_erased:
            return False
        x, y = self._at
        if y != piece.y:
            x = 0
        blank = (" ", _ground(self._style))
        gap = self._rows[piece.y][x : piece.x]
        if not 0 < len(gap) <= self._filled or any(cell != blank for cell in gap):
            return False
        if y != piece.y:
            if self._filled == _FILLED:
                return False
            self._go(out, 0, piece.y)
        out.append(" " * len(gap))
        self._at = (piece.x, piece.y)
        return True

    def _go(self, out: list[str], x: int, y: int) -> None:
        if self._at == (x, y):
            return
        if self._at and self._at[1] == y and x > self._at[0]:
            out.append(f"\x1b[{x - self._at[0]}C")
        else:
            out.append(f"\x1b[{y + 1};{x + 1}H")
        self._at = (x, y)


def _pieces(x: int, y: int, cells: list[Cell]) -> Iterator[_Piece]:
    """Split adjacent cells by style. The first cell must have text."""
    start, style, text, is_narrow = x, "", "", True
    for at, (char, own) in enumerate(cells, x):
        if char and text:
            is_blank = char == " "
            if own != style and not (is_blank and _ground(style) == own):
                if text.strip(" ") or _ground(own) != style:
                    yield _Piece(y, start, style, text, at - start, is_narrow=is_narrow)
                    start, text, is_narrow = at, "", True
                style = own
        elif char:
            style = own
        text += char
        is_narrow = is_narrow and len(char) == 1
    yield _Piece(y, start, style, text, x + len(cells) - start, is_narrow=is_narrow)


def _joined(before: _Piece, after: _Piece) -> _Piece | None:
    """Return both pieces as one, if they are adjacent and one style suits both."""
    if before.y != after.y or before.x + before.width != after.x or not before.is_narrow:
        return None
    style = after.style
    if before.style != after.style:
        if not after.text.strip(" ") and _ground(before.style) == after.style:
            style = before.style
        elif before.text.strip(" ") or _ground(after.style) != before.style:
            return None
    text, width = before.text + after.text, before.width + after.width
    return _Piece(before.y, before.x, style, text, width, is_narrow=after.is_narrow)


def _with_erasures(piece: _Piece, blanks: re.Pattern[str]) -> Iterator[_Piece]:
    """Split a piece into text and long runs of blank cells, which are erased."""
    ground = _ground(piece.style)
    if not piece.is_narrow or ground != _parts(ground)[2]:
        yield piece
        return
    at = 0
    for blank in blanks.finditer(piece.text):
        first, last = blank.span()
        if first > at:
            yield _part(piece, at, first)
        yield _Piece(piece.y, piece.x + first, ground, "", last - first, is_erased=True)
        at = last
    if at < len(piece.text):
        yield _part(piece, at, len(piece.text))


def _part(piece: _Piece, first: int, last: int) -> _Piece:
    text = piece.text[first:last]
    style = piece.style if text.strip(" ") else _ground(piece.style)
    return _Piece(piece.y, piece.x + first, style, text, last - first)


def _stretches(changed: list[int], cells: list[Cell]) -> list[tuple[int, int]]:
    """Return the first and last cell of each changed run; small gaps in one style are included.

    A text that is stored whole in its first cell (see `Cell`) is written whole.
    """
    runs: list[tuple[int, int]] = []
    for i in changed:
        if not cells[i][0]:
            i = max(j for j in range(i) if cells[j][0])
        last = i
        while last + 1 < len(cells) and not cells[last + 1][0]:
            last += 1
        if runs and i - runs[-1][1] <= _REWRITTEN and _one_style(cells[runs[-1][1] : i + 1]):
            runs[-1] = (runs[-1][0], max(last, runs[-1][1]))
        else:
            runs.append((i, last))
    return runs


def _one_style(cells: list[Cell]) -> bool:
    """Return whether these cells have one style, ignoring blanks."""
    return len({style for text, style in cells if text.strip()}) <= 1


@lru_cache(maxsize=4096)
def _cells(text: str, style: str) -> list[Cell]:
    """Return one cell per column of the text.

    If every character is one column wide, each cell has one character. Otherwise, the first cell
    has the whole text: the terminal lays out wide, joined and combining characters, so such texts
    are never split. The result is cached: callers must not modify it.
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
    """Return the style of a blank cell, without bold, dim and italic, which are not visible.

    The foreground is kept only if another attribute, such as underline, shows it.
    """
    attributes, foreground, background = _parts(style)
    kept = [code for code in attributes.split(";") if code not in {"", "1", "2", "3"}]
    if kept:
        return ";".join(part for part in (";".join(kept), foreground, background) if part)
    return background


@lru_cache(maxsize=4096)
def _blank(before: str, style: str) -> str:
    """Return the style for blank cells, with the foreground of the previous text if possible.

    tmux stores the foreground with blank cells, and sends every change of the foreground when tmux
    redraws the whole screen.
    """
    attributes, foreground, background = _parts(style)
    attributes_before, foreground_before, _ = _parts(before)
    if attributes or attributes_before or foreground:
        return style
    return ";".join(filter(None, (foreground_before, background)))


@lru_cache(maxsize=4096)
def _sgr_change(old: str, new: str) -> str:
    """Return an SGR sequence that changes one style into a different one.

    Sets only what differs, unless an attribute has to be turned off; then resets first.
    """
    old_attributes, old_foreground, old_background = _parts(old)
    attributes, foreground, background = _parts(new)
    codes = []
    if old_attributes != attributes:
        added = [code for code in attributes.split(";") if code not in old_attributes.split(";")]
        if not set(filter(None, old_attributes.split(";"))) <= set(attributes.split(";")):
            return f"\x1b[0;{new}m" if new else "\x1b[m"
        codes += added
    if old_foreground != foreground:
        codes.append(foreground or "39")
    if old_background != background:
        codes.append(background or "49")
    return f"\x1b[{';'.join(codes)}m"
