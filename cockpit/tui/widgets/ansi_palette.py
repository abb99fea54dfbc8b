"""Map an agent's ANSI colours to colours that are readable on the current theme.

An agent chooses colours for its own terminal; white text would be invisible on a light theme.
Readable combinations of text and background are kept. Otherwise the text is made lighter or darker,
never the background.
"""

from __future__ import annotations

from collections.abc import Mapping

from rich.color import Color
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from textual.color import Color as Blend
from textual.color import ColorParseError

from cockpit.core.sgr import Color as Chosen
from cockpit.core.sgr import Style as AnsiStyle
from cockpit.tui.terminal.contrast import TEXT, legible, ratio

SEEN = 2.0
"""The contrast below which text in a colour that the agent chose is adjusted. Text that is dim on
purpose has more contrast."""
SEEN_ON_LIGHT = 3.0
"""The contrast below which text in a colour that the agent chose is adjusted on the background of a
light theme.

Agents choose colours for a dark background, where these colours have more contrast.
"""

KEPT = 2000
"""Maximum number of cached styles; a full cache is cleared."""


class AnsiPalette:
    """The Rich style of each ANSI style on one theme, cached."""

    def __init__(self, variables: Mapping[str, str], ansi: TerminalTheme) -> None:
        """`ansi` defines the sixteen base colours."""
        self._text = _parsed(variables.get("foreground", ""))
        self._ground = _parsed(variables.get("pane-background", ""))
        self._ansi = ansi
        self._styles: dict[AnsiStyle, Style] = {}

    def style(self, pen: AnsiStyle) -> Style:
        """Return the Rich style of the ANSI style `pen`.

        Default colours stay unset, unless default text would be unreadable.
        """
        style = self._styles.get(pen)
        if style is None:
            if len(self._styles) >= KEPT:
                self._styles.clear()
            style = self._styles[pen] = self._made(pen)
        return style

    def _made(self, pen: AnsiStyle) -> Style:
        return Style(
            color=self._readable(pen),
            bgcolor=_colour(pen.bg),
            bold=pen.bold or None,
            dim=pen.dim or None,
            italic=pen.italic or None,
            underline=pen.underline or None,
            reverse=pen.reverse or None,
            strike=pen.strike or None,
        )

    def _readable(self, pen: AnsiStyle) -> Color | None:
        own = _colour(pen.fg)
        if pen.fg is None and pen.bg is None:
            return own
        text, ground = self._shown(pen.fg, self._text), self._shown(pen.bg, self._ground)
        if text is None or ground is None or ratio(text, ground) >= self._least(pen):
            return own
        return legible(text, [ground]).rich_color

    def _least(self, pen: AnsiStyle) -> float:
        """Return the contrast below which the text of a style is adjusted."""
        if pen.fg is None:
            return TEXT  # the agent did not choose this text colour
        light = pen.bg is None and self._ground is not None and self._ground.brightness > 0.5
        return SEEN_ON_LIGHT if light else SEEN

    def _shown(self, chosen: Chosen, otherwise: Blend | None) -> Blend | None:
        colour = _colour(chosen)
        return otherwise if colour is None else Blend(*colour.get_truecolor(self._ansi))


def _colour(colour: Chosen) -> Color | None:
    if colour is None:
        return None
    return Color.from_ansi(colour) if isinstance(colour, int) else Color.from_rgb(*colour)


def _parsed(value: str) -> Blend | None:
    """Return the colour; None for a missing colour, or a colour that the terminal defines."""
    try:
        colour = Blend.parse(value)
    except ColorParseError:
        return None
    return None if colour.ansi is not None else colour
