"""How well one colour can be read on another."""

from __future__ import annotations

import pytest
from textual.color import Color

from cockpit.tui.terminal.contrast import legible, ratio

BLACK, WHITE, GREY = Color(0, 0, 0), Color(255, 255, 255), Color(119, 119, 119)


@pytest.mark.parametrize(
    ("one", "other", "found"), [(BLACK, WHITE, 21.0), (GREY, WHITE, 4.48), (GREY, GREY, 1.0)]
)
def test_the_ratio_is_that_of_the_guidelines(one: Color, other: Color, found: float) -> None:
    assert ratio(one, other) == pytest.approx(found, abs=0.01)
    assert ratio(other, one) == ratio(one, other)


def test_what_can_be_read_stays_as_it_is() -> None:
    assert legible(BLACK, [WHITE]) == BLACK
    assert legible(GREY, []) == GREY


def test_what_cannot_becomes_lighter_or_darker_just_as_far_as_it_must() -> None:
    darker = legible(Color(200, 160, 40), [WHITE, Color(230, 230, 230)])
    assert ratio(darker, Color(230, 230, 230)) >= 4.5
    assert darker.rgb[0] > darker.rgb[2]
    lighter = legible(Color(60, 20, 20), [BLACK])
    assert 4.5 <= ratio(lighter, BLACK) < 6


def test_where_nothing_can_be_read_it_is_the_better_of_black_and_white() -> None:
    assert legible(GREY, [BLACK, WHITE]).rgb in (BLACK.rgb, WHITE.rgb)
