"""The queue of handoffs: who keeps a place, and who stands before whom."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cockpit.adapters.agents.command import Command
from cockpit.config.schema import AgentSettings
from cockpit.core.handoff.states import (
    Asked,
    Document,
    Documenting,
    Handoff,
    Plan,
    Reviewing,
    Settling,
    State,
    Stopping,
    Waiting,
)
from cockpit.core.ids import AgentName, HandoffId, JobId, SessionId
from cockpit.ports.records import HandoffRecord, SeatRecord
from cockpit.supervisor.queue import is_ahead, is_under_way
from cockpit.supervisor.seat import Seat

PLAN = Plan("threshold", ask=False, review=False, successors=())
DOCUMENT = Document("/w/handoff.md", "ab" * 32, "agent")
QUEUED = Waiting(since=0.0, why="queued behind a, b")


def seat(name: str, state: State, created: float = 0.0) -> Seat:
    record = SeatRecord(AgentName(name), {}, None, wanted=True, directory="/w")
    made = Seat(record, AgentSettings(name=name), Command())
    made.handoff = Handoff(PLAN, state)
    made.handoff_record = HandoffRecord(
        HandoffId(name),
        AgentName(name),
        JobId("j"),
        SessionId("s"),
        "threshold",
        created,
        "b",
        {},
        {},
    )
    return made


@pytest.mark.parametrize(
    ("state", "keeps"),
    [
        (Asked(), False),
        (QUEUED, False),
        (replace(QUEUED, requested_at=1.0), True),
        (Documenting("agent", since=0.0, until=9.0), True),
        (Reviewing(DOCUMENT), False),
        (Settling(DOCUMENT, since=0.0), False),
        (Stopping(DOCUMENT), True),
    ],
)
def test_a_place_is_kept_from_the_request_on_but_not_by_a_question(
    state: State, keeps: bool
) -> None:
    assert is_under_way(seat("a", state)) is keeps


def test_who_began_first_is_ahead_and_nobody_is_ahead_of_each_other() -> None:
    first, second = seat("b", QUEUED, 1.0), seat("a", QUEUED, 2.0)
    assert is_ahead(first, second)
    assert not is_ahead(second, first)
    assert is_ahead(seat("new", Waiting(since=0.0), 1.0), second)


def test_who_waits_for_something_else_holds_nobody_up() -> None:
    second = seat("a", QUEUED, 2.0)
    assert not is_ahead(seat("b", Waiting(since=0.0, why="a question is open"), 1.0), second)
    assert not is_ahead(seat("b", Asked(), 1.0), second)
    idle = seat("b", QUEUED, 1.0)
    idle.handoff = None
    assert not is_ahead(idle, second)
