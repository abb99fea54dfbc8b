"""Shrink Textual's SVG screenshots to a third of their size, without changing how they look."""

from __future__ import annotations

import re

_FONT_FACE = re.compile(r"@font-face\s*\{[^}]*\}\s*")
_OWN_NAME = re.compile(r"terminal-\d+-")
_LINE_CLIP = re.compile(r'\s*<clipPath id="[\w-]*line-\d+">.*?</clipPath>', re.DOTALL)
_CLIPPED = re.compile(r' clip-path="url\(#[\w-]*line-\d+\)"')
_NUMBER = re.compile(r"(?<=\")-?\d+\.\d{2,}(?=\")")
_TEXT = re.compile(
    r'<text class="([\w-]+)" x="([\d.]+)" y="([\d.]+)" textLength="([\d.]+)">([^<]*)</text>'
)
_GROUND = re.compile(
    r'<rect fill="([^"]+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"'
    r' shape-rendering="crispEdges"/>'
)
_GROUNDS = re.compile(rf"(?:{_GROUND.pattern})+")
_SCREEN = ' clip-path="url(#t-clip-terminal)"'
_CRISP = ' shape-rendering="crispEdges"'
_CELL = 12.2
"""The width of one cell in Textual's pictures, in SVG units."""
_LINE = 24.4
_ABOVE = 18.5
"""The distance from the top of a cell to the baseline of the cell's text."""
_BLANK = "\u00a0"
_HEIGHTS = {block: eighths for eighths, block in enumerate("▁▂▃▄▅▆▇█", start=1)}
_WIDTHS = {block: 8 - eighths for eighths, block in enumerate("▉▊▋▌▍▎▏", start=1)}
_BLOCKS = re.compile(f"([{''.join(_HEIGHTS)}{''.join(_WIDTHS)}])\\1*")


def slim(svg: str) -> str:
    """Remove remote fonts, unneeded clip paths and blanks, and shorten numbers.

    An SVG picture in a page cannot load fonts, so the browser uses a local font. The block
    characters of bars become rectangles, because fonts leave gaps between the characters.
    """
    svg = _FONT_FACE.sub("", svg)
    svg = _OWN_NAME.sub("t-", svg)
    svg = _CLIPPED.sub("", _LINE_CLIP.sub("", svg))
    svg = svg.replace("&#160;", _BLANK)
    svg = _TEXT.sub(_drawn, svg)
    svg = _GROUNDS.sub(_joined, svg).replace(_SCREEN, _SCREEN + _CRISP)
    return _NUMBER.sub(lambda number: _short(float(number[0])), svg)


def _drawn(match: re.Match[str]) -> str:
    """Return an SVG text element, with its block characters drawn as rectangles."""
    name, x, y, length, text = match.groups()
    if "&" in text or round(float(length) / _CELL) != len(text):
        return _bare(name, float(x), y, float(length), text)
    blocks = "".join(
        _block(name, float(x) + found.start() * _CELL, float(y), found[0])
        for found in _BLOCKS.finditer(text)
    )
    rest = _BLOCKS.sub(lambda found: _BLANK * len(found[0]), text)
    return blocks + _bare(name, float(x), y, float(length), rest)


def _block(name: str, x: float, y: float, run: str) -> str:
    """Draw a run of one block character as a rectangle, without gaps between lines."""
    high = _HEIGHTS.get(run[0], 8) / 8 * _LINE
    wide = len(run) * _CELL if run[0] in _HEIGHTS else _WIDTHS[run[0]] / 8 * _CELL
    top, over = y - _ABOVE + _LINE - high, 0.25
    return (
        f'<rect class="{name}" x="{_short(x)}" y="{_short(top)}"'
        f' width="{_short(wide)}" height="{_short(high + over)}"/>'
    )


def _bare(name: str, x: float, y: str, length: float, text: str) -> str:
    """Return an SVG text element, without the blanks at both ends of the text."""
    bare = text.lstrip(_BLANK)
    before = len(text) - len(bare)
    bare = bare.rstrip(_BLANK)
    if not bare:
        return ""
    after = len(text) - before - len(bare)
    left = _short(x + before * _CELL)
    width = _short(length - (before + after) * _CELL)
    return f'<text class="{name}" x="{left}" y="{y}" textLength="{width}">{bare}</text>'


def _joined(match: re.Match[str]) -> str:
    """Merge adjacent background rectangles of one colour."""
    rows: list[tuple[str, float, str, float, str]] = []
    for fill, left, y, width, height in _GROUND.findall(match[0]):
        x, wide = float(left), float(width)
        if rows and rows[-1][0] == fill and rows[-1][2] == y:
            begun = rows.pop()[1]
            x, wide = begun, x + wide - begun
        rows.append((fill, x, y, wide, height))
    return "".join(
        f'<rect fill="{fill}" x="{_short(x)}" y="{y}" width="{_short(wide)}" height="{height}"/>'
        for fill, x, y, wide, height in rows
    )


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
