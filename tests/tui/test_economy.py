"""What is left of a picture on a slow connection: 256 colours, and no bold."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from cockpit.tui.terminal import themes
from cockpit.tui.terminal.capabilities import filters
from cockpit.tui.terminal.contrast import TEXT, hue_turn, is_coloured, ratio
from cockpit.tui.terminal.economy import _COLOURS, _FIRST, Economy
from cockpit.tui.terminal.few_colours import SixteenColours
from cockpit.tui.widgets.roles import _DRAWN, ROLES, Palette

NIGHT = Color.parse("#12161c")
THEMES = themes.load([Path(__file__).parents[2] / "themes"]).themes


def drawn(style: Style, page: Color = NIGHT) -> Style:
    (segment,) = Economy().apply([Segment("api", style)], page)
    assert segment.text == "api"
    assert segment.style is not None
    return segment.style


def shown(number: int | None) -> Color:
    assert number is not None
    assert _FIRST <= number < 256
    return _COLOURS[number - _FIRST]


@pytest.mark.parametrize("name", THEMES)
def test_every_role_can_be_read_and_keeps_its_hue(name: str) -> None:
    theme = THEMES[name]
    colours = theme.to_color_system().generate()
    variables = {**themes.defaults(colours), **colours, **theme.variables}
    palette, page = (
        Palette(themes.with_few_colours(variables)),
        Color.parse(variables["background"]),
    )
    for role in ROLES:
        given = palette.style(role)
        style = drawn(Style(bgcolor=page.rich_color) + given, page)
        assert style.color is not None
        assert style.bgcolor is not None
        text, ground = shown(style.color.number), shown(style.bgcolor.number)
        wanted = Color.from_rich_color(given.color) if given.color else page.inverse
        if not role.startswith(_DRAWN):
            assert ratio(text, ground) >= TEXT, role
            if is_coloured(wanted):
                assert hue_turn(wanted, text) < 1 / 6, role


def test_a_change_of_style_is_short() -> None:
    sent = drawn(Style.parse("bold italic dim underline reverse #c9d1d9 on #1d2630"))
    codes = sent._make_ansi_codes(3)  # type: ignore[arg-type]
    assert codes.split(";")[:2] == ["4", "7"], "bold, italic and dim are gone"
    assert codes.count("38;5;") == codes.count("48;5;") == 1


def test_what_is_short_already_stays() -> None:
    (plain,) = Economy().apply([Segment("api")], NIGHT)
    assert plain.style is None
    assert drawn(Style.parse("red on default")) == Style.parse(
        "not bold not italic not dim red on default"
    )
    assert drawn(Style.parse("color(123)")).color == Style.parse("color(123)").color


def test_sixteen_colours_are_chosen_over_it() -> None:
    def kinds(colours: str, *, is_low: bool) -> list[type]:
        found = filters("unicode", colours, {}, is_low=is_low)  # type: ignore[arg-type]
        return [type(one) for one in found]

    assert kinds("all", is_low=True) == [Economy]
    assert kinds("all", is_low=False) == []
    assert kinds("16", is_low=True) == [SixteenColours]
