"""A handoff that cannot go on: how long it waits, what it says, when the user hears of it."""

from __future__ import annotations

from cockpit.core.errors import OsProblem
from cockpit.supervisor.agents.blocked import LONGEST, SHORTEST, SHOWN_AFTER, blocked_after

FULL = OsProblem("Cannot write the database", "cockpit.db: database or disk is full.", "Wait.")


def test_it_is_tried_again_soon_and_then_less_often() -> None:
    blocked = blocked_after(None, FULL, 100.0)
    assert blocked.again == 100.0 + SHORTEST
    for now in (100.5, 104.0, 1000.0):
        later = blocked_after(blocked, FULL, now)
        assert later.since == 100.0
        assert now + SHORTEST <= later.again <= now + LONGEST
        blocked = later
    assert blocked.again == 1000.0 + LONGEST


def test_the_pilot_hears_of_what_lasts() -> None:
    blocked = blocked_after(None, FULL, 100.0)
    assert not blocked.is_shown(100.0 + SHOWN_AFTER - 0.1)
    assert blocked.is_shown(100.0 + SHOWN_AFTER)


def test_it_says_why_in_one_line() -> None:
    why = "Cannot write the database. cockpit.db: database or disk is full"
    assert blocked_after(None, FULL, 0.0).why == why
    assert "No space" in blocked_after(None, OSError(28, "No space left on device"), 0.0).why
    assert "see the log" in blocked_after(None, KeyError("x"), 0.0).why
