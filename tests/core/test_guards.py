"""What holds a handoff back that is due, each rule by itself."""

from __future__ import annotations

import pytest

from cockpit.core.guards import Left, is_stale, limit_reached, not_grown, queued, too_soon
from cockpit.core.handoff.events import Turn


def test_after_an_end_there_is_a_rest() -> None:
    assert "less than 60 s ago" in (too_soon(Left(elapsed=20.0), 60.0) or "")
    assert too_soon(Left(elapsed=60.0), 60.0) is None


def test_a_machine_that_was_started_anew_has_rested() -> None:
    assert too_soon(Left(elapsed=None), 60.0) is None


def test_a_question_that_was_answered_is_put_again_a_tenth_of_the_window_later() -> None:
    left = Left(tokens=144_000)
    assert "17k" in (not_grown(left, 147_000, 200_000, forced=False) or "")
    assert not_grown(left, 163_999, 200_000, forced=False)
    assert not_grown(left, 164_000, 200_000, forced=False) is None


def test_the_force_band_puts_it_once_more_and_not_twice() -> None:
    assert not_grown(Left(tokens=158_000), 161_000, 200_000, forced=True) is None
    assert not_grown(Left(tokens=161_000, forced=True), 162_000, 200_000, forced=True)


@pytest.mark.parametrize(("tokens", "window"), [(None, 200_000), (150_000, None)])
def test_what_is_not_known_holds_nothing_back(tokens: int | None, window: int | None) -> None:
    assert not_grown(Left(tokens=144_000), tokens, window, forced=False) is None
    assert not_grown(Left(), 150_000, 200_000, forced=False) is None


@pytest.mark.parametrize(
    ("turn", "age", "stale"),
    [
        (Turn.WORKING, 119.0, False),
        (Turn.WORKING, 121.0, True),
        (Turn.UNKNOWN, 121.0, True),
        (Turn.IDLE, 90_000.0, False),
        (Turn.DIALOG, 90_000.0, False),
        (Turn.WORKING, -3600.0, False),
        (Turn.IDLE, None, True),
    ],
)
def test_an_old_reading_of_a_working_agent_says_nothing(
    turn: Turn, age: float | None, stale: bool
) -> None:
    assert is_stale(turn, age) is stale


def test_limits_are_told_in_words_and_zero_is_none() -> None:
    assert limit_reached(30, 30, None, 0) == "30 turns of at most 30"
    assert limit_reached(1, 1, None, 0) == "1 turn of at most 1"
    assert limit_reached(29, 30, None, 0) is None
    assert limit_reached(900, 0, 86_400.0, 86_400.0) == "24 h of at most 24 h"
    assert limit_reached(900, 0, 5400.0, 5400.0) == "1.5 h of at most 1.5 h"
    assert limit_reached(900, 0, 45.0, 30.0) == "45 s of at most 30 s"
    assert limit_reached(900, 0, None, 30.0) is None
    assert limit_reached(900, 0, 90_000.0, 0) is None


def test_who_came_first_goes_first() -> None:
    assert queued(["a"], [], 2) is None
    assert queued(["a"], ["b"], 2) == "queued behind a, b"
    assert queued(["b", "a"], [], 2) == "queued behind a, b"
