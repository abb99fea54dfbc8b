"""What is left of a picture with sixteen colours, or with none."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from cockpit.tui.terminal import themes
from cockpit.tui.terminal.contrast import TEXT, ratio
from cockpit.tui.terminal.few_colours import _SIXTEEN, NoColours, SixteenColours
from cockpit.tui.widgets.roles import ROLES, Palette

NIGHT, DAY = Color.parse("#12161c"), Color.parse("#f7f6f2")
THEMES = themes.load([Path(__file__).parents[2] / "themes"]).themes


def drawn(how: NoColours | SixteenColours, text: str, style: str, page: Color = NIGHT) -> Style:
    (segment,) = how.apply([Segment(text, Style.parse(style))], page)
    assert segment.text == text
    assert segment.style is not None
    return segment.style


def test_without_colours_there_is_none_and_not_even_a_grey() -> None:
    style = drawn(NoColours(), "api", "bold #c9d1d9 on #222c38")
    assert (style.color, style.bgcolor, style.bold, style.reverse) == (None, None, True, None)


@pytest.mark.parametrize(
    ("text", "style", "reverse"),
    [
        ("▏", "#12161c on #e08e4f", True),  # a notch in a full bar
        (" ", "on #e08e4f", True),
        (" ", "on #222c38", False),  # a shade of the page
        ("api", "#c9d1d9 on #222c38", False),
        ("api", "#c9d1d9", False),
        ("a", "#000000 on #ffffff", True),  # where the cursor is
    ],
)
def test_a_ground_that_stands_out_is_drawn_in_reverse(text: str, style: str, reverse: bool) -> None:
    assert bool(drawn(NoColours(), text, style).reverse) == reverse
    assert bool(drawn(SixteenColours(), text, style).reverse) == reverse


def test_nothing_is_lost_where_there_is_no_style() -> None:
    for how in (NoColours(), SixteenColours()):
        (segment,) = how.apply([Segment("api")], NIGHT)
        assert segment.text == "api"


@pytest.mark.parametrize("name", THEMES)
def test_every_role_can_be_read_in_sixteen_colours(name: str) -> None:
    theme = THEMES[name]
    colours = theme.to_color_system().generate()
    variables = {**themes.defaults(colours), **colours, **theme.variables}
    palette, page = Palette(variables), Color.parse(variables["background"])
    for role in ROLES:
        (segment,) = SixteenColours().apply([Segment("x", palette.style(role))], page)
        style = segment.style
        assert style is not None
        assert style.color is not None
        assert style.bgcolor is not None
        assert style.bgcolor.number == (0 if theme.dark else 15)
        assert ratio(_sixteen(style.color), _sixteen(style.bgcolor)) >= TEXT, role


def test_a_hue_stays_what_it_is_where_it_can_be_read() -> None:
    for colour, number in [("#e0626c", 9), ("#7fb98a", 2), ("#8ec7d2", 6), ("#c9d1d9", 7)]:
        shown = drawn(SixteenColours(), "x", colour).color
        assert shown is not None
        assert shown.number == number, colour
    on_white = drawn(SixteenColours(), "x", "#b3323f", DAY).color
    assert on_white is not None
    assert on_white.number == 1


def _sixteen(colour: RichColor) -> Color:
    assert colour.number is not None
    return _SIXTEEN[colour.number]
