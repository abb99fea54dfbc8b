"""Choose the filters for the characters and colours that the terminal can show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from textual.filter import LineFilter

from cockpit.core.charset import colours as promised
from cockpit.core.charset import speaks_unicode
from cockpit.tui.terminal.ascii import AsciiOnly
from cockpit.tui.terminal.few_colours import NoColours, SixteenColours

Glyphs = Literal["auto", "unicode", "ascii"]
Colours = Literal["auto", "all", "16", "none"]


def filters(glyphs: Glyphs, colours: Colours, environment: Mapping[str, str]) -> list[LineFilter]:
    """Return the filters for every line; `auto` chooses by the environment."""
    found: list[LineFilter] = []
    match promised(environment) if colours == "auto" else colours:
        case "none":
            found.append(NoColours())
        case "16":
            found.append(SixteenColours())
    if glyphs == "ascii" or (glyphs == "auto" and not speaks_unicode(environment)):
        found.append(AsciiOnly())
    return found
