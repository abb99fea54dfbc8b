"""Who is drawn for with less: by the environment, unless the user says."""

from __future__ import annotations

import pytest

from cockpit.tui.terminal.ascii import AsciiOnly
from cockpit.tui.terminal.capabilities import Colours, Glyphs, erases_in_colour, filters
from cockpit.tui.terminal.few_colours import NoColours, SixteenColours

MANY = {"TERM": "xterm-256color"}


@pytest.mark.parametrize(
    ("glyphs", "colours", "environment", "through"),
    [
        ("auto", "auto", MANY, []),
        ("auto", "auto", {**MANY, "NO_COLOR": ""}, []),
        ("auto", "auto", {**MANY, "NO_COLOR": "1"}, [NoColours]),
        ("auto", "auto", {**MANY, "LANG": "C"}, [AsciiOnly]),
        ("unicode", "auto", {**MANY, "LANG": "C"}, []),
        ("ascii", "none", MANY, [NoColours, AsciiOnly]),
        ("auto", "all", {**MANY, "NO_COLOR": "1"}, []),
        ("auto", "auto", {"TERM": "xterm"}, [SixteenColours]),
        ("auto", "auto", {"TERM": "linux"}, [SixteenColours]),
        ("auto", "auto", {"TERM": "linux", "NO_COLOR": "1"}, [NoColours]),
        ("auto", "auto", {"TERM": "xterm", "COLORTERM": "truecolor"}, []),
        ("auto", "auto", {"TERM": "xterm-direct"}, []),
        ("auto", "16", MANY, [SixteenColours]),
    ],
)
def test_what_every_line_passes(
    glyphs: Glyphs, colours: Colours, environment: dict[str, str], through: list[type]
) -> None:
    assert [type(one) for one in filters(glyphs, colours, environment)] == through


@pytest.mark.parametrize(
    ("environment", "erases"),
    [
        ({"TERM": "tmux-256color"}, True),
        ({"TERM": "screen-256color", "TMUX": "/tmp/t,1,0"}, True),
        ({"TERM": "screen"}, False),
        ({"TERM": "vt100"}, False),
        ({"TERM": "xterm-of-tomorrow"}, False),
        ({}, False),
    ],
)
def test_where_erased_cells_get_the_background_colour(
    environment: dict[str, str], erases: bool
) -> None:
    assert erases_in_colour(environment) is erases
