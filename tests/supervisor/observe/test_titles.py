"""A title is as old as the first look that saw it, but it also says what is true now."""

from __future__ import annotations

import pytest

from cockpit.core.handoff.events import Turn
from cockpit.core.session_activity import FILE_UNCHANGED, SessionActivity
from cockpit.ports.runtimes import Activity, Presence
from cockpit.supervisor.observe.titles import UNCHANGED, SeenTitles

KEY = ("api", "one")
READY = Presence(Activity.IDLE)
WORKING = Presence(Activity.BUSY)


def test_a_title_is_dated_by_the_look_that_saw_it_first() -> None:
    titles = SeenTitles()
    assert titles.date(KEY, "Ready", READY, 100.0).updated == 100.0
    assert titles.date(KEY, "Ready", READY, 102.0).updated == 100.0
    assert titles.date(("web", "two"), "Ready", READY, 103.0).updated == 103.0
    assert titles.date(KEY, "Working", WORKING, 104.0).updated == 104.0
    assert titles.date(KEY, "Ready", READY, 105.0).updated == 105.0
    assert titles.date(("api", "next"), "Ready", READY, 106.0).updated == 106.0


@pytest.mark.parametrize(
    ("activity", "turn"), [(Activity.IDLE, Turn.IDLE), (Activity.WAITING, Turn.DIALOG)]
)
def test_a_title_that_changed_and_changed_back_between_two_looks_counts(
    activity: Activity, turn: Turn
) -> None:
    titles, session, presence = SeenTitles(), SessionActivity(), Presence(activity)
    session.apply_status_file(turn, None, titles.date(KEY, "Same", presence, 100.0).updated or 0.0)
    session.apply_transcript(working=True, at=100.5)
    for look in (101.0, 103.0, 105.0):
        at = titles.date(KEY, "Same", presence, look).updated or 0.0
        session.apply_status_file(turn, None, at, unchanged=look - at)
        assert session.turn is Turn.WORKING
    at = titles.date(KEY, "Same", presence, 106.0).updated or 0.0
    session.apply_status_file(turn, None, at, unchanged=106.0 - at)
    assert session.turn is turn


def test_a_title_that_says_working_is_not_written_again() -> None:
    """Gemini says so also while it asks what to do after a usage limit."""
    titles = SeenTitles()
    assert titles.date(KEY, "Working", WORKING, 100.0).updated == 100.0
    assert titles.date(KEY, "Working", WORKING, 160.0).updated == 100.0


def test_a_title_that_stands_needs_no_lead_over_hooks() -> None:
    assert UNCHANGED > FILE_UNCHANGED
