"""At how many tokens a session's CLI compacted, and what the event says of an open handoff."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

import pytest

from cockpit.config.paths import Places
from cockpit.config.schema import AgentSettings
from cockpit.core.handoff.details import HandoffDetails
from cockpit.core.handoff.states import Document, Ended, Handoff, Outcome, Plan, Reviewing, Starting
from cockpit.core.handoff.states import State as HandoffState
from cockpit.core.ids import HandoffId, JobId, SessionId
from cockpit.core.reading import Confidence, Window
from cockpit.core.session import AssistantReplied, Compacted, Usage, UserSaid
from cockpit.ports.records import EventRecord, HandoffRecord, JobRecord, SessionRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.agents.latches import LET_COMPACT
from cockpit.supervisor.agents.session_state import SessionState
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.main import dependencies
from cockpit.supervisor.observe.compaction import Compactions, handoff_clause
from cockpit.supervisor.view.notes import note

DOCUMENT = Document("/d", "0" * 64, "agent")


def reply(ident: str, tokens: int) -> AssistantReplied:
    return AssistantReplied(ident, "", Usage(tokens), Usage())


@pytest.mark.parametrize(
    ("readings", "compacted_at"),
    [
        ([60_000, 90_025], 90_025),
        # The last of these is Codex's request for the summary, as a gateway counts it.
        ([90_025, 1_108], 90_025),
        ([60_000, 90_025, 91_200], 91_200),
        ([], None),
    ],
)
def test_a_summary_that_counts_little_is_no_place_where_the_cli_compacts(
    readings: list[int], compacted_at: int | None
) -> None:
    state = SessionState(directory="/w", window_of=lambda _: Window(100_000, Confidence.DERIVED))
    state.caught_up()
    for at, tokens in enumerate(readings):
        state.read([reply(f"m{at}", tokens)], at + 1.0)
    state.read([Compacted("auto", None)], 9.0)
    assert state.compaction.by_itself_at == compacted_at


@pytest.mark.parametrize(
    ("triggers", "told", "too_late"),
    [
        (["auto"], " automatically, 60k tokens above the act threshold: too late for a", True),
        (["manual"], " at your request", False),
        ([""], ", 60k tokens above the act threshold", False),
        # CLI 1.0 writes a second line, without the trigger.
        (["auto", ""], " automatically, 60k tokens above the act threshold: too late for a", True),
        (["", "manual"], " at your request", False),
    ],
)
def test_only_a_compaction_that_nobody_asked_for_is_called_too_late(
    own_home: Path, triggers: list[str], told: str, too_late: bool
) -> None:
    parts, agent = full_agent(own_home)
    event = compacted(parts, agent, *triggers)
    assert event.text.startswith(f"api compacted its context{told}")
    assert ("too late" in event.text) is too_late
    assert ("too late" in (note(agent) or "")) is too_late
    parts.store.close()


def test_no_compaction_is_too_late_for_an_agent_that_is_only_watched(own_home: Path) -> None:
    parts, agent = full_agent(own_home, mode="observe")
    event = compacted(parts, agent, "auto")
    assert event.text.endswith("automatically, 60k tokens above the act threshold")
    assert note(agent) is None
    parts.store.close()


def test_a_compaction_that_was_too_late_is_not_shown_after_the_job(own_home: Path) -> None:
    parts, agent = full_agent(own_home)
    compacted(parts, agent, "auto")
    assert "too late" in (note(agent) or "")
    agent.marked_done_at = 2.0
    assert note(agent) is None
    parts.store.close()


@pytest.mark.parametrize("answer", ["refused", "let it compact"])
def test_no_compaction_is_too_late_after_the_handoff_was_refused(
    own_home: Path, answer: str
) -> None:
    parts, agent = full_agent(own_home)
    job = JobRecord(JobId("j"), agent.name, "Count.", 1.0)
    parts.store.add_job(job)
    agent.session = SessionRecord(SessionId("s"), agent.name, job.id, 1, None, "api-1", 1.0)
    parts.store.save_session(agent.session)
    if answer == "refused":
        parts.store.save_handoff(
            HandoffRecord(
                HandoffId("h"), agent.name, job.id, agent.session.id, "threshold", 1.0, "boot", {},
                HandoffDetails(), ended=1.0, outcome="refused",
            )
        )  # fmt: skip
    else:
        parts.store.latch(agent.session.id, LET_COMPACT, 1.0)
    event = compacted(parts, agent, "auto")
    assert event.text == "api compacted its context automatically"
    assert note(agent) is None
    parts.store.close()


def full_agent(home: Path, mode: str = "prompt") -> tuple[Dependencies, Agent]:
    """An agent whose act threshold is at 130k."""
    places = Places.of(os.environ)
    places.make()
    parts = dependencies(places)
    settings = AgentSettings.model_validate(
        {
            "name": "api", "directory": home, "mode": mode,
            "context": {"act": "130k", "force": "150k"},
        }
    )  # fmt: skip
    agent = Fleet(parts).take_up(settings, None)
    agent.session_state.caught_up()
    return parts, agent


def compacted(parts: Dependencies, agent: Agent, *triggers: str) -> EventRecord:
    """The event of a compaction at 190k, which the transcript has with these triggers."""
    agent.read([reply("1", 190_000), *(Compacted(trigger, None) for trigger in triggers)], 1.0)
    unused = cast("Any", None)
    Compactions(parts, unused, unused).record_compaction(agent)
    (event,) = [one for one in parts.store.events(0, 10) if one.kind == "agent.compacted"]
    return event


PROMPT = UserSaid("And another.")


@pytest.mark.parametrize(
    ("events", "before_prompts", "passed"),
    [
        # Each reply tells of the request before it, which was sent at the tokens before it.
        ([reply("1", 500), reply("2", 600), reply("3", 700)], False, 600),
        # Gemini compacts only what came before the last prompt: a long turn shows nothing.
        ([UserSaid("Begin."), reply("1", 500), reply("2", 600), reply("3", 700)], True, None),
        ([reply("1", 600), PROMPT, reply("2", 700), reply("3", 800)], True, 600),
        ([reply("1", 600), UserSaid("Hook.", meta=True), reply("2", 700)], True, None),
        ([reply("1", 600), UserSaid("Look.", sidechain=True), reply("2", 700)], True, None),
    ],
)
def test_only_a_request_that_could_have_compacted_shows_that_the_cli_did_not(
    events: list[AssistantReplied | UserSaid], before_prompts: bool, passed: int | None
) -> None:
    state = SessionState(
        directory="/w",
        window_of=lambda _: Window(1_000, Confidence.DERIVED),
        compacts_before_prompts=before_prompts,
    )
    state.caught_up()
    state.read(events, 1.0)
    assert state.compaction.passed == passed


@pytest.mark.parametrize(
    ("state", "clause"),
    [
        (Reviewing(DOCUMENT), "waiting for your approval"),
        (Starting(DOCUMENT), "already approved"),
        (Ended(Outcome.CANCELLED, "the context was compacted"), ""),
    ],
)
def test_only_a_handoff_that_goes_on_is_told_to_go_on(state: HandoffState, clause: str) -> None:
    handoff = Handoff(Plan("threshold", ask=True, review=True, successors=()), state)
    told = handoff_clause(handoff)
    assert clause in told
    assert bool(told) is bool(clause)
