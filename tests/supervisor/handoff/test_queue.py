"""The queue of handoffs: who keeps a place, and who stands before whom."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cockpit.adapters.agents.command import Command
from cockpit.config.schema import AgentSettings
from cockpit.core.handoff.details import HandoffDetails
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
from cockpit.ports.records import AgentRecord, HandoffRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.blocked import Blocked
from cockpit.supervisor.handoff.queue import is_ahead, is_under_way

PLAN = Plan("threshold", ask=False, review=False, successors=())
DOCUMENT = Document("/w/handoff.md", "ab" * 32, "agent")
QUEUED = Waiting(since=0.0, why="queued behind a, b", queued=True)


def agent(name: str, state: State, created: float = 0.0) -> Agent:
    record = AgentRecord(AgentName(name), {}, None, wanted=True, directory="/w")
    made = Agent(record, AgentSettings(name=name), Command(Path("/nowhere")))
    made.progress.handoff = Handoff(PLAN, state)
    made.progress.record = HandoffRecord(
        HandoffId(name),
        AgentName(name),
        JobId("j"),
        SessionId("s"),
        "threshold",
        created,
        "b",
        {},
        HandoffDetails(),
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
    assert is_under_way(agent("a", state)) is keeps


def test_an_error_that_blocks_a_handoff_does_not_hold_up_others() -> None:
    stuck = agent("a", Documenting("agent", since=0.0, until=9.0))
    assert is_under_way(stuck)
    stuck.progress.blocked = Blocked(0.0, "the disk is full", 1.0)
    assert not is_under_way(stuck)


def test_who_began_first_is_ahead_and_nobody_is_ahead_of_each_other() -> None:
    first, second = agent("b", QUEUED, 1.0), agent("a", QUEUED, 2.0)
    assert is_ahead(first, second)
    assert not is_ahead(second, first)
    assert is_ahead(agent("new", Waiting(since=0.0), 1.0), second)


def test_who_waits_for_something_else_holds_nobody_up() -> None:
    second = agent("a", QUEUED, 2.0)
    assert not is_ahead(agent("b", Waiting(since=0.0, why="a question is open"), 1.0), second)
    assert not is_ahead(agent("b", Asked(), 1.0), second)
    idle = agent("b", QUEUED, 1.0)
    idle.progress.handoff = None
    assert not is_ahead(idle, second)
