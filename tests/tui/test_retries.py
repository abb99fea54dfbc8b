"""A lost supervisor is asked again at growing intervals, soon after a short cut."""

from __future__ import annotations

from itertools import pairwise

from cockpit.tui.state.retries import LAST_REMOTE_RETRY, LAST_RETRY, SHORT_CUT, SOON, Retries


def attempts(retries: Retries, lost: float, until: float) -> list[float]:
    """When a supervisor is asked that answered from 0 until `lost`, and then never."""
    asked, now = [], lost + retries.wait_after(0, lost, was_live=True)
    while now < until:
        asked.append(now)
        now += retries.wait_after(now, now, was_live=False)
    return asked


def intervals(moments: list[float]) -> list[float]:
    return [later - earlier for earlier, later in pairwise(moments)]


def test_a_far_host_is_back_within_two_seconds_of_a_short_cut() -> None:
    asked = attempts(Retries(is_remote=True), lost=100, until=1000)

    during = [moment for moment in asked if moment <= 100 + SHORT_CUT]
    assert max(intervals([100, *during])) <= SOON < 2
    assert intervals(asked)[-1] == LAST_REMOTE_RETRY
    assert len(asked) < 60


def test_a_local_supervisor_is_always_asked_soon() -> None:
    asked = attempts(Retries(is_remote=False), lost=100, until=200)

    assert max(intervals([100, *asked])) == LAST_RETRY


def test_a_far_host_that_ends_each_connection_is_asked_at_growing_intervals() -> None:
    retries = Retries(is_remote=True)
    begun = range(0, 400, 40)
    waits = [retries.wait_after(each, each + 1, was_live=True) for each in begun]

    assert waits == sorted(waits)
    assert waits[-1] == LAST_REMOTE_RETRY
