"""Notifications: many as one, and quiet hours."""

from __future__ import annotations

import pytest

from cockpit.core.notices import SHOWN, digest, minutes_of_quiet, quiet_hours


def test_one_is_itself_and_many_are_a_list() -> None:
    assert digest(["api needs you"]) == ("cockpit", "api needs you")
    title, body = digest(["a\x1b[31m", "b"])
    assert (title, body) == ("cockpit: 2 events", "- a\n- b")
    title, body = digest([str(number) for number in range(SHOWN + 5)])
    assert title == "cockpit: 25 events"
    assert body.splitlines()[-1] == "and 5 more"
    assert len(body.splitlines()) == SHOWN + 1


def test_quiet_hours_over_midnight_and_within_a_day() -> None:
    night = quiet_hours("22:00-07:00")
    assert minutes_of_quiet(night, 22 * 60) == 9 * 60
    assert minutes_of_quiet(night, 6 * 60 + 59) == 1
    assert minutes_of_quiet(night, 7 * 60) == 0
    assert minutes_of_quiet(night, 12 * 60) == 0
    lunch = quiet_hours("12:00-13:30")
    assert minutes_of_quiet(lunch, 13 * 60) == 30
    assert minutes_of_quiet(lunch, 11 * 60 + 59) == 0
    assert minutes_of_quiet(quiet_hours(""), 0) == 0
    assert minutes_of_quiet(quiet_hours("08:00-08:00"), 8 * 60) == 0


@pytest.mark.parametrize("wrong", ["22-07", "24:00-07:00", "22:00", "22:60-07:00", "x"])
def test_other_spellings_are_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="22:00-07:00"):
        quiet_hours(wrong)
