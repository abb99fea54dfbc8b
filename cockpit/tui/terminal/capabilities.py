"""Detect what the terminal can do: characters, colours, erasing in the background colour."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from textual.filter import LineFilter

from cockpit.core.charset import colours as promised
from cockpit.core.charset import speaks_unicode
from cockpit.tui.terminal.ascii import AsciiOnly
from cockpit.tui.terminal.few_colours import NoColours, SixteenColours

_ECH = b"\x1b[%p1%dX"
Glyphs = Literal["auto", "unicode", "ascii"]
Colours = Literal["auto", "all", "16", "none"]


def filters(
    glyphs: Glyphs, colours: Colours, environment: Mapping[str, str], *, is_low: bool = False
) -> list[LineFilter]:
    """Return the line filters for a terminal; `auto` chooses by the environment variables.

    `is_low` adds a filter that saves bytes, unless another filter already reduces the colours.
    """
    chosen: list[LineFilter] = []
    match promised(environment) if colours == "auto" else colours:
        case "none":
            chosen.append(NoColours())
        case "16":
            chosen.append(SixteenColours())
        case "all" if is_low:
            from cockpit.tui.terminal.economy import Economy

            chosen.append(Economy())
    if glyphs == "ascii" or (glyphs == "auto" and not speaks_unicode(environment)):
        chosen.append(AsciiOnly())
    return chosen


def erases_in_colour(environment: Mapping[str, str]) -> bool:
    """Return whether the terminal has the erase sequence ECH, and erases in the background colour.

    tmux does both even if the outer terminal does not; tmux's terminfo entries do not say so.
    """
    term = environment.get("TERM", "")
    if term.startswith("tmux") or (term.startswith("screen") and "TMUX" in environment):
        return True
    import curses

    try:
        curses.setupterm(term, 1)
    except curses.error:
        return False
    return curses.tigetflag("bce") == 1 and curses.tigetstr("ech") == _ECH
