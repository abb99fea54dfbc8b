"""The bar claims exactly what the reading supports, in exactly the cells it was given."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from cockpit.tui.present.bar import (
    ASSUMED,
    COMPACTS,
    FILL,
    HALF,
    PASSED,
    TICK,
    TRACK,
    UNKNOWN,
    context_bar,
)
from cockpit.tui.present.span import plain
from cockpit.tui.widgets.roles import ROLES
from cockpit.wire.status import ContextStatus, MarksStatus
from tests.tui.scene import context

BARE = MarksStatus()


def bar(tokens: int | None, width: int = 20, **fields: object) -> str:
    return plain(context_bar(context(tokens, **fields), width))


def test_no_reading_is_drawn_as_none_and_neither_empty_nor_full() -> None:
    assert bar(None) == UNKNOWN * 20
    assert plain(context_bar(ContextStatus(tokens=5), 8)) == UNKNOWN * 8


def test_half_of_the_window_fills_half_of_the_bar() -> None:
    assert bar(100_000, marks=BARE, compacts_at=None) == FILL * 10 + TRACK * 10


def test_a_single_token_is_more_than_nothing() -> None:
    assert bar(1, marks=BARE, compacts_at=None).startswith(HALF)
    assert bar(0, marks=BARE, compacts_at=None) == TRACK * 20


def test_the_act_threshold_has_a_tick_and_the_compaction_point_is_marked() -> None:
    drawn = bar(0, 40)
    assert [index for index, cell in enumerate(drawn) if cell == TICK] == [28]
    assert drawn.index(COMPACTS) == 33


def test_the_tick_is_still_seen_once_it_is_passed() -> None:
    drawn = bar(149_000, 40)
    assert drawn.index(PASSED) == 28
    assert TICK not in drawn


def test_there_is_no_track_beyond_the_compaction_point() -> None:
    spans = context_bar(context(10_000), 40)
    assert spans[-1].role == ""
    assert not spans[-1].text.strip()


def test_an_assumed_window_is_dashed() -> None:
    assert ASSUMED in bar(80_000, confidence="assumed")
    assert FILL not in bar(80_000, confidence="assumed")


def test_an_old_reading_has_the_colour_of_old_things() -> None:
    roles = {span.role for span in context_bar(context(80_000), 20, stale=True)}
    assert "bar-stale" in roles
    assert "bar-calm" not in roles


@given(tokens=st.integers(1, 200_000), width=st.integers(8, 40))
def test_the_bar_never_ends_on_the_wrong_side_of_the_act_threshold(tokens: int, width: int) -> None:
    drawn = bar(tokens, width)
    assert (PASSED in drawn) == (tokens >= 140_000)
    assert (TICK in drawn) == (tokens < 140_000)


@pytest.mark.parametrize(
    ("tokens", "role"),
    [
        (61_000, "bar-calm"),
        (104_000, "bar-notice"),
        (127_000, "bar-warn"),
        (142_000, "bar-act"),
        (149_000, "bar-force"),
    ],
)
def test_each_band_has_its_own_role(tokens: int, role: str) -> None:
    assert context_bar(context(tokens), 20)[0].role == role


@given(
    tokens=st.none() | st.integers(0, 3_000_000),
    window=st.none() | st.integers(0, 1_000_000),
    marks=st.lists(st.none() | st.integers(-5, 2_000_000), min_size=5, max_size=5),
    width=st.integers(0, 120),
    confidence=st.sampled_from(["reported", "derived", "assumed", "unknown"]),
    stale=st.booleans(),
)
def test_whatever_the_reading_the_bar_has_its_width_and_known_roles(
    tokens: int | None,
    window: int | None,
    marks: list[int | None],
    width: int,
    confidence: str,
    stale: bool,
) -> None:
    notice, warn, act, force, compacts_at = marks
    reading = ContextStatus.model_validate(
        {
            "tokens": tokens,
            "window": window,
            "confidence": confidence,
            "compacts_at": compacts_at,
            "marks": {"notice": notice, "warn": warn, "act": act, "force": force},
        }
    )
    spans = context_bar(reading, width, stale=stale)
    assert cell_len(plain(spans)) == width
    assert {span.role for span in spans} <= ROLES.keys()
