"""A line filter for slow connections: 256 colours, and no bold, italic or dim text.

A change to a 24-bit colour takes up to 19 bytes, to one of 256 colours 11. To turn an attribute
off, tmux resets all attributes and sends both colours again.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from cockpit.tui.terminal.contrast import TEXT, hue_turn, is_coloured, ratio

_FIRST = 16
"""The first of the 256 colours that is the same in all terminals."""
_LEVELS = (0, 95, 135, 175, 215, 255)
_COLOURS = (
    *(Color(red, green, blue) for red, green, blue in product(_LEVELS, repeat=3)),
    *(Color(grey, grey, grey) for grey in range(8, 239, 10)),
)
"""The colours from `_FIRST` on, as xterm defines them."""
_NUMBERS = range(len(_COLOURS))
_OTHER_HUE = 20_000
"""Penalty for another hue, per whole turn of the colour circle, in the unit of `_distance`."""
_PLAIN = Style(bold=False, italic=False, dim=False)


class Economy(LineFilter):
    """Draws with the nearest of 256 colours, and without bold, italic and dim."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            Segment(text, _economical(style, background) if style else style, control)
            for text, style, control in segments
        ]


@lru_cache(maxsize=4096)
def _economical(style: Style, page: Color) -> Style:
    ground = _rgb(style.bgcolor) or page
    colour, background = _rgb(style.color), _rgb(style.bgcolor)
    return (
        style
        + _PLAIN
        + Style(
            color=colour and RichColor.from_ansi(_nearest(colour, ground)),
            bgcolor=background and RichColor.from_ansi(_nearest(background)),
        )
    )


def _rgb(colour: RichColor | None) -> Color | None:
    """Return a 24-bit colour; None for any other colour, whose sequence is already short."""
    if colour is None or colour.is_default or colour.number is not None:
        return None
    return Color.from_rich_color(colour)


@lru_cache(maxsize=1024)
def _nearest(colour: Color, ground: Color | None = None) -> int:
    """Return the number of the nearest colour; with `ground`, of the nearest readable colour.

    A colour with little contrast to `ground`, such as a frame's, keeps at least that contrast.
    """
    if ground is None:
        return _FIRST + min(_NUMBERS, key=lambda number: _distance(_COLOURS[number], colour))
    shown = _COLOURS[_nearest(ground) - _FIRST]
    least = min(TEXT, ratio(colour, ground))
    readable = [number for number in _NUMBERS if ratio(_COLOURS[number], shown) >= least]
    return _FIRST + min(
        readable or _NUMBERS, key=lambda number: _distance_of_text(_COLOURS[number], colour)
    )


def _distance_of_text(one: Color, wanted: Color) -> float:
    """Return the distance of two colours, larger for another hue, because colours show states."""
    turn = hue_turn(wanted, one) if is_coloured(wanted) else 0.0
    return _distance(one, wanted) + _OTHER_HUE * turn


def _distance(one: Color, other: Color) -> int:
    return sum((a - b) ** 2 for a, b in zip(one.rgb, other.rgb, strict=True))
