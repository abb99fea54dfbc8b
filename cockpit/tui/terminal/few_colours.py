"""Line filters for sixteen colours, and for none.

Textual uses greys for NO_COLOR, and the nearest match for sixteen colours. Both can make
backgrounds or text invisible. The filters here drop backgrounds close to the page colour, draw
other backgrounds in reverse, and give text a readable colour.
"""

from __future__ import annotations

from functools import lru_cache

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from cockpit.tui.terminal.contrast import TEXT, hue_turn, is_coloured, ratio

STANDS_OUT = 2.0
"""Minimum contrast of a background that stands out from the page."""
SAME_HUE = 1 / 9
"""Maximum distance of two hues that count as alike, as a fraction of the colour circle."""

_SIXTEEN = {
    number: Color.parse(f"rgb({red},{green},{blue})")
    for number, (red, green, blue) in enumerate(
        [
            (0, 0, 0), (170, 0, 0), (0, 170, 0), (170, 85, 0),
            (0, 0, 170), (170, 0, 170), (0, 170, 170), (170, 170, 170),
            (85, 85, 85), (255, 85, 85), (85, 255, 85), (255, 255, 85),
            (85, 85, 255), (255, 85, 255), (85, 255, 255), (255, 255, 255),
        ]
    )
}  # fmt: skip
"""The colours of the Linux console; other terminals differ slightly."""


class NoColours(LineFilter):
    """Draws without colours, greys and dim text; other attributes are kept."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            Segment(text, _uncoloured(style, background, bool(text.strip())), control)
            for text, style, control in segments
        ]


class SixteenColours(LineFilter):
    """Draws with the sixteen ANSI colours, on black or white."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            Segment(text, _sixteen(style, background, bool(text.strip())), control)
            for text, style, control in segments
        ]


@lru_cache(maxsize=4096)
def _uncoloured(style: Style | None, page: Color, written: bool) -> Style:
    return _attributes(style, reverse=_stands_out(style, page, written))


@lru_cache(maxsize=4096)
def _sixteen(style: Style | None, page: Color, written: bool) -> Style:
    ground = 0 if page.brightness < 0.5 else 15
    colour = style.color if style else None
    if _stands_out(style, page, written):
        colour = style.bgcolor if style else None
        reverse = True
    else:
        reverse = False
    shown = _nearest(_known(colour, page.inverse), ground)
    return _attributes(style, reverse=reverse) + Style(
        color=RichColor.from_ansi(shown), bgcolor=RichColor.from_ansi(ground)
    )


def _stands_out(style: Style | None, page: Color, written: bool) -> bool:
    """Return whether the background's contrast to the page exceeds `STANDS_OUT` and, if there is
    text (`written`), also exceeds the text's contrast to the page."""
    if style is None or style.bgcolor is None or style.bgcolor.is_default:
        return False
    seen = ratio(_known(style.bgcolor, page), page)
    ink = ratio(_known(style.color, page.inverse), page) if written else 1.0
    return seen > max(ink, STANDS_OUT)


def _known(colour: RichColor | None, otherwise: Color) -> Color:
    if colour is None or colour.is_default:
        return otherwise
    return Color.from_rich_color(colour)


@lru_cache(maxsize=1024)
def _nearest(colour: Color, ground: int) -> int:
    """Return the readable ANSI colour with the nearest hue; without one, a grey, black or white."""
    readable = [number for number in _SIXTEEN if ratio(_SIXTEEN[number], _SIXTEEN[ground]) >= TEXT]
    hues = {number: hue_turn(colour, _SIXTEEN[number]) for number in readable}
    alike = [number for number, turn in hues.items() if turn <= SAME_HUE]
    if alike and is_coloured(colour):
        return min(alike, key=lambda number: hues[number])
    greys = [number for number in readable if not is_coloured(_SIXTEEN[number])]
    over = _SIXTEEN[ground]
    return min(greys, key=lambda grey: abs(ratio(_SIXTEEN[grey], over) - ratio(colour, over)))


def _attributes(style: Style | None, *, reverse: bool) -> Style:
    """Return the style without its colours; `reverse` toggles the style's own reverse."""
    if style is None:
        return Style()
    return Style(
        bold=style.bold,
        italic=style.italic,
        underline=style.underline,
        strike=style.strike,
        reverse=(bool(style.reverse) != reverse) or None,
    )
