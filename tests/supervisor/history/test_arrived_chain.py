"""The history of a job that arrived from another machine: what is stored, and what is refused."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cockpit.config.paths import Places
from cockpit.core.errors import BadUsage
from cockpit.core.handoff.details import Leaving
from cockpit.core.ids import AgentName, HandoffId, JobId, SessionId
from cockpit.ports.records import JobRecord, SessionRecord
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.history.arrived_chain import MOST_SESSIONS, store_chain
from cockpit.supervisor.main import dependencies
from cockpit.supervisor.sessions.inheritance import Predecessor
from cockpit.wire.history import HistoryChain, HistoryHandoff, HistorySession

API = AgentName("api")


@pytest.fixture
def parts(own_home: Path) -> Iterator[Dependencies]:
    places = Places.of(os.environ)
    places.make()
    parts = dependencies(places)
    yield parts
    parts.store.close()


def told(**more: Any) -> HistoryChain:
    """Three sessions: the second was undone, and the job was moved in the third."""
    sessions = [
        HistorySession(
            id="s1",
            number=1,
            state="handed_off",
            started_at="2026-11-20T10:00:00Z",
            transcript="/etc/passwd",
            document="/etc/hostname",
            handoffs=[
                HistoryHandoff(id="h1", created="2026-11-20T11:00:00Z", outcome="done"),
                HistoryHandoff(id="h2", created="2026-11-20T12:30:00Z", outcome="done"),
            ],
        ),
        HistorySession(id="s2", number=2, state="undone", started_at="2026-11-20T11:01:00Z"),
        HistorySession(
            id="s3",
            number=3,
            state="live",
            runtime="codex",
            started_at="2026-11-20T12:31:00Z",
            handoffs=[HistoryHandoff(id="h3", created="2026-11-20T13:00:00Z")],
        ),
    ]
    return HistoryChain(agent="api", job="j1", goal="Count.", sessions=sessions, **more)


async def arrive(parts: Dependencies, chain: HistoryChain, agent: AgentName = API) -> Predecessor:
    return await store_chain(parts, agent, chain, "h3", "laptop")


async def test_a_refused_handoff_keeps_what_the_context_held(parts: Dependencies) -> None:
    chain = told()
    refused = HistoryHandoff(
        id="h1", created="2026-11-20T11:00:00Z", outcome="refused", tokens=149_000
    )
    chain.sessions[0].handoffs[0] = refused
    await arrive(parts, chain)
    stored = parts.store.handoff(HandoffId("h1"))
    assert stored is not None
    assert stored.details.left == Leaving(tokens=149_000)


async def test_a_chain_is_stored_without_paths_of_the_other_machine(parts: Dependencies) -> None:
    parts.documents.copies.keep("h2", b"# Handoff\n")
    before = await arrive(parts, told())
    assert (before.job.id, before.session) == ("j1", "s3")
    stored = parts.store.chain(JobId("j1"))
    assert [(one.number, one.state, one.previous) for one in stored] == [
        (1, "handed_off", None),
        (2, "undone", "s1"),
        (3, "ended", "s1"),
    ]
    assert [one.transcript for one in stored] == [None, None, None]
    assert stored[2].document == str(parts.documents.copies.path("h2"))
    assert stored[2].runtime == "codex"
    handoffs = parts.store.handoffs(JobId("j1"))
    assert [(one.id, one.outcome, one.new_session) for one in handoffs] == [
        ("h1", "done", "s2"),
        ("h2", "done", "s3"),
        ("h3", "unknown", None),
    ]
    assert {one.details.moved_from for one in handoffs} == {"laptop"}
    assert handoffs[0].document is None
    assert parts.store.open_handoffs() == []


async def test_a_second_request_changes_nothing(parts: Dependencies) -> None:
    await arrive(parts, told())
    before = parts.store.chain(JobId("j1")), parts.store.handoffs(JobId("j1"))
    await arrive(parts, told().model_copy(update={"goal": "Other."}))
    assert (parts.store.chain(JobId("j1")), parts.store.handoffs(JobId("j1"))) == before
    assert len(parts.store.jobs()) == 1
    assert parts.store.jobs()[0].prompt == "Count."


async def test_times_that_are_not_told_stay_unknown(parts: Dependencies) -> None:
    chain = told()
    bare = [one.model_copy(update={"started_at": None}) for one in chain.sessions]
    await arrive(parts, chain.model_copy(update={"sessions": bare, "started_at": None}))

    assert [(one.created, one.ended) for one in parts.store.chain(JobId("j1"))] == [(0, 0)] * 3
    assert [one.created for one in parts.store.jobs()] == [0]
    assert {one.ended for one in parts.store.handoffs(JobId("j1"))} == {0}


async def test_a_handoff_without_a_time_is_refused(parts: Dependencies) -> None:
    chain = told()
    chain.sessions[0].handoffs[0] = HistoryHandoff(id="h1", created="yesterday")
    with pytest.raises(BadUsage, match="Cannot add the history"):
        await arrive(parts, chain)
    assert parts.store.jobs() == []


def of_another_agent(parts: Dependencies) -> None:
    parts.store.add_job(JobRecord(JobId("j1"), AgentName("web"), "Mine.", 1.0))


def session_of_another_agent(parts: Dependencies) -> None:
    parts.store.add_job(JobRecord(JobId("j2"), AgentName("web"), "Mine.", 1.0))
    parts.store.save_session(
        SessionRecord(SessionId("s1"), AgentName("web"), JobId("j2"), 1, None, "", 1.0)
    )


@pytest.mark.parametrize("others", [of_another_agent, session_of_another_agent])
async def test_the_history_of_another_agent_is_not_changed(
    parts: Dependencies, others: Any
) -> None:
    others(parts)
    before = parts.store.jobs(), parts.store.session("s1")
    with pytest.raises(BadUsage, match="Cannot add the history") as refused:
        await arrive(parts, told())
    assert "web" in refused.value.detail
    assert "--name web" in refused.value.hint
    assert (parts.store.jobs(), parts.store.session("s1")) == before


@pytest.mark.parametrize(
    "change",
    [
        {"job": "../j"},
        {"job": ""},
        {"sessions": []},
        {"sessions": [HistorySession(id="../s")]},
        {"sessions": [HistorySession(id="s1", handoffs=[HistoryHandoff(id="../../h")])]},
    ],
)
async def test_an_invalid_chain_is_refused(parts: Dependencies, change: dict[str, Any]) -> None:
    with pytest.raises(BadUsage, match="Cannot add the history"):
        await arrive(parts, told().model_copy(update=change))
    assert parts.store.jobs() == []


async def test_a_handoff_that_ended_another_session_is_refused(parts: Dependencies) -> None:
    await arrive(parts, told())
    forged = told()
    forged.sessions[1].handoffs.append(HistoryHandoff(id="h1"))
    with pytest.raises(BadUsage, match="Cannot add the history"):
        await arrive(parts, forged)


async def test_an_endless_chain_is_cut_to_its_newest_sessions(parts: Dependencies) -> None:
    many = [HistorySession(id=f"m{number}", number=number) for number in range(MOST_SESSIONS + 9)]
    await arrive(parts, told().model_copy(update={"sessions": [*many, *told().sessions]}))
    assert len(parts.store.chain(JobId("j1"))) == MOST_SESSIONS
