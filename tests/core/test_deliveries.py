"""When a message is done, tried again, or given up."""

from __future__ import annotations

import pytest

from cockpit.core.deliveries import (
    FIRST_WAIT,
    LONGEST_LIFE,
    LONGEST_WAIT,
    Again,
    Answer,
    Delivered,
    GivenUp,
    after,
)


@pytest.mark.parametrize("status", [200, 202, 204])
def test_taken(status: int) -> None:
    assert after(Answer(status), 1, 0.0, 0.5) == Delivered()


@pytest.mark.parametrize("status", [301, 307, 400, 401, 404, 410])
def test_never(status: int) -> None:
    assert isinstance(after(Answer(status), 1, 0.0, 0.5), GivenUp)


def test_a_redirect_says_so() -> None:
    assert after(Answer(301), 1, 0.0, 0.5) == GivenUp("redirects are not followed")


@pytest.mark.parametrize("status", [None, 408, 425, 429, 500, 503])
def test_later(status: int | None) -> None:
    assert after(Answer(status, problem="x"), 1, 0.0, 0.5) == Again(FIRST_WAIT / 2)


def test_waits_double_up_to_a_bound_and_are_drawn_below_it() -> None:
    waits = [after(Answer(500), attempt, 0.0, 1.0) for attempt in (1, 2, 3, 40, 10_000)]
    assert waits == [Again(5.0), Again(10.0), Again(20.0), Again(LONGEST_WAIT), Again(LONGEST_WAIT)]
    assert after(Answer(500), 5, 0.0, 0.0) == Again(0.0)


def test_what_the_other_side_asks_for_is_obeyed() -> None:
    assert after(Answer(429, retry_after=30.0), 1, 0.0, 0.0) == Again(30.0)


def test_after_a_day_it_is_no_news() -> None:
    assert isinstance(after(Answer(None), 9, LONGEST_LIFE, 1.0), GivenUp)
    assert isinstance(after(Answer(429, retry_after=LONGEST_LIFE), 1, 1.0, 0.0), GivenUp)


def test_a_refused_address_is_not_tried_again() -> None:
    assert after(Answer(problem="private", permanent=True), 1, 0.0, 0.5) == GivenUp("private")
