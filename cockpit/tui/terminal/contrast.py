"""The contrast of two colours as defined by WCAG 2, and the distance of their hues."""

from __future__ import annotations

from collections.abc import Iterable

from textual.color import Color

TEXT = 4.5
"""The minimum contrast of text; a high-contrast theme needs 7."""
_STEP = 0.05
COLOURED = 28
"""Minimum difference between the largest and the smallest of a colour's red, green and blue parts
(0 to 255); with a smaller difference, the colour is grey."""


def ratio(one: Color, other: Color) -> float:
    """Return the contrast ratio, from 1 (same colour) to 21 (black and white). Symmetric."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def legible(colour: Color, grounds: Iterable[Color], least: float = TEXT) -> Color:
    """Return the colour, made lighter or darker until it can be read on all backgrounds.

    If no such colour exists, returns whichever of black and white has more contrast.
    """
    over = list(grounds)
    ends = (Color(255, 255, 255), Color(0, 0, 0))
    end = max(ends, key=lambda end: min((ratio(end, ground) for ground in over), default=0.0))
    share, adjusted = 0.0, colour
    while share < 1 and any(ratio(adjusted, ground) < least for ground in over):
        share += _STEP
        adjusted = colour.blend(end, min(share, 1.0))
    return adjusted


def is_coloured(colour: Color) -> bool:
    """Return whether a colour is not a grey."""
    return max(colour.rgb) - min(colour.rgb) >= COLOURED


def hue_turn(one: Color, other: Color) -> float:
    """Return the distance of two hues as a fraction of the colour circle; 1 if `other` is grey."""
    if not is_coloured(other):
        return 1.0
    apart = abs(one.hsl.h - other.hsl.h)
    return min(apart, 1 - apart)


def _luminance(colour: Color) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4
        for part in colour.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
