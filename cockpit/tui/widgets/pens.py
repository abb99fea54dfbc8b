"""From the colours that an agent writes in to colours that can be seen on the theme in force.

An agent chooses its colours for its own terminal. On a light theme its white would not be seen on
our ground, nor our dark text on a ground that it made dark. What can be told apart is left as the
agent has it; of the rest the text is made lighter or darker, and its ground never.
"""

from __future__ import annotations

from collections.abc import Mapping

from rich.color import Color
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from textual.color import Color as Blend
from textual.color import ColorParseError

from cockpit.core.sgr import Color as Chosen
from cockpit.core.sgr import Style as Pen
from cockpit.tui.contrast import legible, ratio

SEEN = 2.0
"""The contrast below which text is as good as hidden. Agents dim on purpose, but not so far."""

KEPT = 2000
"""Pens that are remembered; a full memory is emptied."""


class Pens:
    """How each pen looks on one theme. The same pen is worked out once."""

    def __init__(self, variables: Mapping[str, str], ansi: TerminalTheme) -> None:
        """`ansi` gives the sixteen colours that a terminal may show as it likes."""
        self._text = _parsed(variables.get("foreground", ""))
        self._ground = _parsed(variables.get("pane-background", ""))
        self._ansi = ansi
        self._styles: dict[Pen, Style] = {}

    def style(self, pen: Pen) -> Style:
        """None of its colours is set where the pane's own is meant."""
        found = self._styles.get(pen)
        if found is None:
            if len(self._styles) >= KEPT:
                self._styles.clear()
            found = self._styles[pen] = self._made(pen)
        return found

    def _made(self, pen: Pen) -> Style:
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

    def _readable(self, pen: Pen) -> Color | None:
        own = _colour(pen.fg)
        if pen.fg is None and pen.bg is None:
            return own
        text, ground = self._shown(pen.fg, self._text), self._shown(pen.bg, self._ground)
        if text is None or ground is None or ratio(text, ground) >= SEEN:
            return own
        return legible(text, [ground]).rich_color

    def _shown(self, chosen: Chosen, otherwise: Blend | None) -> Blend | None:
        colour = _colour(chosen)
        return otherwise if colour is None else Blend(*colour.get_truecolor(self._ansi))


def _colour(colour: Chosen) -> Color | None:
    if colour is None:
        return None
    return Color.from_ansi(colour) if isinstance(colour, int) else Color.from_rgb(*colour)


def _parsed(value: str) -> Blend | None:
    """None for what is no colour, as in a theme that leaves it to the terminal."""
    try:
        found = Blend.parse(value)
    except ColorParseError:
        return None
    return None if found.ansi is not None else found
