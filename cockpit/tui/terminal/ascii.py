"""A line filter that draws with ASCII only.

Replaces every character with ASCII of the same width, just before output, so that screens need no
ASCII variant.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from rich.cells import cell_len, split_graphemes
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

UNKNOWN = "?"

_DRAWN = {
    # the context bar: fill, end of the fill, tick, assumed window, unknown tokens
    "━": "=", "╸": "-", "┿": "|", "╍": "%", "╌": ".",
    # plots and other drawings
    "█": "#", "▉": "#", "▊": "#", "▋": "#", "▌": ">", "▍": ".", "▎": ".", "▏": "|", "┃": "]",
    "▒": "%", "░": ".", "▓": "#", "▐": "|", "▀": "-", "▄": "_",
    # states
    "◆": "!", "◇": "!", "●": "*", "○": "o", "◌": ".", "»": ">", "«": "<", "✓": "v", "✔": "v",
    "×": "x", "✗": "x", "✘": "x", "·": ".", "•": "*", "⏺": "*", "■": "#", "□": "o",
    # plots, sparklines
    "┊": ":", "▁": "_", "▂": "_", "▃": ".", "▅": "=", "▆": "+", "▇": "#",
    # punctuation and CLI symbols
    "…": "~", "–": "-", "—": "-", "‘": "'", "’": "'", "“": '"', "”": '"', "„": '"', "→": ">",
    "←": "<", "↑": "^", "↓": "v", "▲": "^", "▼": "v", "▶": ">", "◀": "<", "❯": ">", "❮": "<",
    "⎿": "L", "✻": "*", "✽": "*", "✢": "*", "✶": "*", "✳": "*", "⬢": "*", "⏵": ">", "ß": "s",
}  # fmt: skip


class AsciiOnly(LineFilter):
    """Converts every segment to ASCII of the same width."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            Segment(text if control or text.isascii() else ascii_only(text), style, control)
            for text, style, control in segments
        ]


@lru_cache(maxsize=4096)
def ascii_only(text: str) -> str:
    """Convert text to ASCII of exactly the same width in cells."""
    parts, width = split_graphemes(text)
    return "".join(_shown(text[start:end], cells) for start, end, cells in parts)[:width]


def _shown(joined: str, cells: int) -> str:
    """Convert one grapheme to ASCII, by the grapheme's first character."""
    return _drawn(joined[0]).ljust(cells, UNKNOWN)[:cells]


@lru_cache(maxsize=1024)
def _drawn(char: str) -> str:
    if char.isascii():
        return char
    known = _DRAWN.get(char) or _line(char)
    if known:
        return known
    if "\u2800" <= char <= "\u28ff":  # dots of a plot
        return " " if char == "\u2800" else "."
    plain = unicodedata.normalize("NFKD", char)[:1]
    return plain if plain.isascii() and cell_len(char) == 1 else UNKNOWN * cell_len(char)


def _line(char: str) -> str:
    """Convert a box-drawing character to ASCII: `-` or `|` for a straight line, `+` for any other.

    Empty if `char` is not a box-drawing character.
    """
    if not "\u2500" <= char <= "\u257f":
        return ""
    name = unicodedata.name(char)
    flat = any(word in name for word in ("HORIZONTAL", "LEFT", "RIGHT"))
    upright = any(word in name for word in ("VERTICAL", "UP", "DOWN"))
    return "-" if not upright else "|" if not flat else "+"
