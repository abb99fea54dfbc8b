"""What an agent writes can be seen on every theme, and looks as it means it wherever it can."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.terminal_theme import DEFAULT_TERMINAL_THEME
from textual.color import Color

from cockpit.core.sgr import Style as Pen
from cockpit.tui.terminal.contrast import TEXT, ratio
from cockpit.tui.widgets.ansi_palette import SEEN, AnsiPalette
from tests.client.memory import MemoryClient
from tests.tui.scene import scene

NIGHT = {"foreground": "#c9d1d9", "pane-background": "#0e1217"}
DAY = {"foreground": "#25303b", "pane-background": "#fbfaf7"}
DARK_GREEN, WHITE, GREY = (34, 58, 44), (255, 255, 255), (80, 80, 80)


class Fly(Protocol):
    def __call__(self, client: MemoryClient, **how: Any) -> AbstractAsyncContextManager[Any]: ...


def ansi_palette(variables: dict[str, str]) -> AnsiPalette:
    return AnsiPalette(variables, DEFAULT_TERMINAL_THEME)


def contrast(pen: Pen, variables: dict[str, str]) -> float:
    """Of what is drawn in the end."""
    style = ansi_palette(variables).style(pen)
    text = style.color.get_truecolor(DEFAULT_TERMINAL_THEME) if style.color else None
    ground = style.bgcolor.get_truecolor(DEFAULT_TERMINAL_THEME) if style.bgcolor else None
    return ratio(
        Color(*text) if text else Color.parse(variables["foreground"]),
        Color(*ground) if ground else Color.parse(variables["pane-background"]),
    )


def test_our_text_can_be_read_on_a_ground_that_the_agent_made_dark() -> None:
    assert contrast(Pen(bg=DARK_GREEN), DAY) >= TEXT
    assert ansi_palette(NIGHT).style(Pen(bg=DARK_GREEN)).color is None


def test_white_text_of_the_agent_can_be_read_on_our_light_ground() -> None:
    assert contrast(Pen(fg=WHITE), DAY) >= TEXT
    assert contrast(Pen(fg=WHITE, reverse=True), DAY) >= TEXT


def test_what_can_be_seen_is_left_as_it_is() -> None:
    for variables in (NIGHT, DAY):
        for pen in (Pen(), Pen(fg=GREY), Pen(fg=WHITE, bg=DARK_GREEN), Pen(bold=True, dim=True)):
            style = ansi_palette(variables).style(pen)
            assert style.color is None or tuple(style.color.triplet or ()) == pen.fg


colours = st.none() | st.integers(0, 255) | st.tuples(*[st.integers(0, 255)] * 3)


@pytest.mark.parametrize("variables", [NIGHT, DAY], ids=["night", "day"])
@given(text=colours, ground=colours)
def test_nothing_is_hidden_whatever_the_agent_chooses(
    variables: dict[str, str], text: Any, ground: Any
) -> None:
    assert contrast(Pen(fg=text, bg=ground), variables) >= SEEN


def test_a_theme_that_names_no_colour_leaves_everything_to_the_terminal() -> None:
    style = ansi_palette({"foreground": "ansi_default", "pane-background": "auto"}).style(
        Pen(fg=WHITE)
    )
    assert tuple(style.color.triplet or ()) == WHITE  # type: ignore[union-attr]


async def test_another_theme_draws_the_pane_anew(fly: Fly) -> None:
    async with fly(scene(), selected="api") as flight:
        await flight.reads("if token.expires_in")
        pane, pen = flight.fleet.pane, Pen(bg=DARK_GREEN)
        assert pane.ansi_palette.style(pen).color is None
        flight.app.theme = "day"
        await flight.until(lambda: pane.ansi_palette.style(pen).color is not None, "another colour")
        await flight.reads("if token.expires_in")


def test_our_text_stands_out_on_every_ground_that_the_agent_made() -> None:
    for ground in ((0x5C, 0x5C, 0x5C), (122, 41, 54), (55, 55, 55), (0x80, 0x80, 0x80)):
        assert contrast(Pen(bg=ground), DAY) >= TEXT
        assert contrast(Pen(bg=ground), NIGHT) >= TEXT


def test_colours_chosen_for_a_dark_ground_can_be_read_on_a_light_one() -> None:
    green = (78, 186, 101)
    assert contrast(Pen(fg=green), DAY) >= TEXT
    assert contrast(Pen(fg=(153, 153, 153)), DAY) >= TEXT
    unchanged = ansi_palette(NIGHT).style(Pen(fg=green)).color
    assert unchanged is not None
    assert tuple(unchanged.get_truecolor()) == green
