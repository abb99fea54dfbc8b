"""A flight to be looked at: nobody at first, then everybody where they should stop."""

from __future__ import annotations

import pytest

from cockpit.demo.flight import Flight
from cockpit.demo.jobs import DURATIONS
from cockpit.demo.leftovers import carriers
from cockpit.demo.more_jobs import PICTURED, SORTING
from cockpit.demo.posing import GOALS, at_goal, fly_posing
from cockpit.wire.status import AgentStatus


@pytest.mark.long
@pytest.mark.tmux
def test_each_look_finds_what_it_is_for_and_nothing_is_left() -> None:
    seen: list[list[AgentStatus]] = []
    flown: list[Flight] = []

    async def look(flight: Flight) -> None:
        flown.append(flight)
        seen.append((await flight.client.status()).agents)

    fly_posing(
        empty=look,
        posed=look,
        keep=False,
        say=lambda _: None,
        standin=True,
        jobs={"durations": DURATIONS, "sorting": SORTING},
    )
    nobody, (durations, sorting) = seen
    assert nobody == []
    assert durations.needs
    assert (durations.needs.kind, sorting.state) == ("review", "idle")
    folder = flown[0].scratch.folder
    assert not folder.exists()
    assert carriers(folder) == []


def test_who_has_no_goal_of_its_own_flies_to_the_end() -> None:
    assert set(GOALS) < set(PICTURED)
    fixed = {"runtime": "claude", "directory": "/w", "strategy": "handoff", "max_handoffs": 3}
    rows = [
        AgentStatus.model_validate({**fixed, "name": name, "mode": "auto", "state": "done"})
        for name in PICTURED
    ]
    assert {row.name for row in rows if at_goal(row)} == set(PICTURED) - set(GOALS)
