"""What holds a handoff back that is due, each rule by itself."""

from __future__ import annotations

import pytest

from cockpit.core.guards import Left, NextTry, is_stale, limit_reached, next_try, queued, too_soon
from cockpit.core.handoff.events import Turn


def test_after_an_end_there_is_a_rest() -> None:
    assert "less than 60 s ago" in (too_soon(Left(elapsed=20.0), 60.0) or "")
    assert too_soon(Left(elapsed=60.0), 60.0) is None


def test_a_machine_that_was_started_anew_has_rested() -> None:
    assert too_soon(Left(elapsed=None), 60.0) is None


@pytest.mark.parametrize(
    ("left", "force_at", "compacts_at", "at"),
    [
        (Left(tokens=130_000), 160_000, 167_000, NextTry(150_000)),  # a tenth of the window
        (Left(tokens=149_000), 160_000, 167_000, NextTry(160_000)),
        (Left(tokens=149_000), None, None, NextTry(169_000)),
        (Left(tokens=141_000, forced=True), 140_000, 167_000, NextTry(161_000)),
        (Left(tokens=161_000, forced=True), 160_000, 167_000, NextTry(167_000, compaction=True)),
        (Left(tokens=149_000), None, 167_000, NextTry(167_000, compaction=True)),
        # The CLI did not compact there: another question at once would come after each refusal.
        (Left(tokens=168_000, forced=True), 160_000, 167_000, NextTry(188_000)),
    ],
)
def test_the_next_question_comes_at_the_lowest_of_its_counts(
    left: Left, force_at: int | None, compacts_at: int | None, at: NextTry
) -> None:
    assert next_try(left, 200_000, force_at, compacts_at) == at


@pytest.mark.parametrize(("tokens", "window"), [(None, 200_000), (150_000, None)])
def test_what_is_not_known_holds_nothing_back(tokens: int | None, window: int | None) -> None:
    assert next_try(Left(tokens=tokens), window, 160_000, 167_000) is None


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
