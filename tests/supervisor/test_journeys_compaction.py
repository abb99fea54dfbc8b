"""Compactions and clears as an agent meets them: facts given back, held once, told when late."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from cockpit.supervisor.compactions import HELD
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Send

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux

GROWING: dict[str, Any] = {"steps": 8, "settles": 0, "pace": 0.1}
"""84k, 144k, then above 167k: the CLI compacts, and begins again."""


def injected(cockpit: Cockpit, row: AgentStatus) -> list[tuple[str, str]]:
    """What hooks told the session, by event."""
    attachments = (line["attachment"] for line in cockpit.said(row) if line["type"] == "attachment")
    return [
        (each["hookEvent"], "\n".join(each["content"]))
        for each in attachments
        if each["type"] == "hook_additional_context"
    ]


def strategy(name: str, more: str = "") -> dict[str, Any]:
    return {**GROWING, "more": f'strategy = "{name}"\n{more}'}


def test_facts_are_given_back_with_the_compaction_and_only_once(cockpit: Cockpit) -> None:
    async def journey() -> None:
        async with cockpit.flying(cockpit.agent(**strategy("compact"))):
            first = await cockpit.start()
            await cockpit.event("facts.given")
            done = await cockpit.until(lambda row: row.state == "done")
            assert (done.session_id, done.handoffs) == (first.session_id, 0)
            assert done.compactions >= 1
            told = injected(cockpit, done)
            assert [event for event, _ in told] == ["SessionStart"] * done.compactions
            text = told[0][1]
            assert text.startswith("Note from cockpit (facts ")
            assert "## Original Goal" in text
            assert "Count the steps." in text
            assert len(await cockpit.events("facts.given")) == done.compactions
            assert await cockpit.events("handoff.begun") == []
            assert done.note is None

    asyncio.run(journey())


def test_facts_that_were_dropped_go_in_with_the_next_step_and_never_twice(
    cockpit: Cockpit,
) -> None:
    async def journey() -> None:
        # A compaction takes a while, as a real one does: the facts lie ready before it is over.
        agent = cockpit.agent(
            steps=9,
            pause=2,
            step_tokens=100,
            pace=1,
            faults="dropped",
            more='strategy = "compact"',
        )
        async with cockpit.flying(agent):
            row = await cockpit.start()
            await cockpit.until(lambda row: row.state == "idle")
            type_in(cockpit, row, "/compact")
            await cockpit.until(lambda row: row.compactions == 1)
            await cockpit.ask(Send(name="api", text="Is all well?"))
            await cockpit.event("facts.dropped")
            assert injected(cockpit, row) == []
            await cockpit.ask(Send(name="api", text="Go on."))
            await cockpit.event("facts.given")
            await cockpit.until(lambda row: row.state in {"idle", "done"})
            await cockpit.ask(Send(name="api", text="And on."))
            await cockpit.until(lambda row: row.state in {"idle", "done"})
            assert [event for event, _ in injected(cockpit, row)] == ["UserPromptSubmit"]

    asyncio.run(journey())


def type_in(cockpit: Cockpit, row: AgentStatus, text: str) -> None:
    assert row.pane is not None
    cockpit.tmux("send-keys", "-t", row.pane, "-l", text)
    cockpit.tmux("send-keys", "-t", row.pane, "Enter")


@pytest.mark.parametrize("mode", ["auto", "observe"])
def test_a_cleared_session_is_offered_its_facts(cockpit: Cockpit, mode: str) -> None:
    async def journey() -> None:
        async with cockpit.flying(cockpit.agent(mode=mode, steps=9, pause=3, step_tokens=100)):
            first = await cockpit.start()
            await cockpit.until(lambda row: row.state == "idle")
            type_in(cockpit, first, "/clear")
            second = await cockpit.until(lambda row: row.session_id != first.session_id)
            assert (second.pid, second.session_number) == (first.pid, 2)
            if mode == "auto":
                await until_lying(cockpit, "facts")
            await cockpit.ask(Send(name="api", text="Go on."))
            await cockpit.until(lambda row: row.state in {"idle", "done"})
            told = injected(cockpit, await cockpit.row())
            if mode == "observe":
                assert told == []
                return
            ((event, text),) = told
            assert event == "UserPromptSubmit"
            assert "this conversation was cleared" in text
            assert "## In-Progress Work" in text
            assert (await cockpit.event("facts.given")).data["occasion"] == "clear"

    asyncio.run(journey())


def test_a_clear_calls_off_the_handoff_of_what_was_cleared(cockpit: Cockpit) -> None:
    async def journey() -> None:
        async with cockpit.flying(cockpit.agent(mode="prompt", steps=9, pause=4)):
            first = await cockpit.start()
            await cockpit.until(lambda row: row.needs is not None and row.needs.kind == "handoff")
            await cockpit.until(lambda row: row.last_activity_at is not None)
            seen = cockpit.supervisor
            assert seen is not None
            conduct = seen.fleet.seat("api").sitting.conduct
            while conduct.turns == 0:
                await asyncio.sleep(0.02)
            type_in(cockpit, first, "/clear")
            gone = await cockpit.event("handoff.cancelled")
            assert gone.data["why"] == "the session was cleared by hand"
            row = await cockpit.until(lambda row: row.session_id != first.session_id)
            assert (row.pid, row.needs, row.handoff) == (first.pid, None, None)

    asyncio.run(journey())


async def until_lying(cockpit: Cockpit, name: str) -> None:
    folder = cockpit.places.state / "verdicts" / "api"
    for _ in range(500):
        if (folder / name).exists():
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"there is no {name} in {folder}")


def test_a_compaction_waits_once_for_the_document(cockpit: Cockpit) -> None:
    async def journey() -> None:
        agent = cockpit.agent(steps=60, settles=0, pace=0.1, faults="first:nodocument")
        async with cockpit.flying(agent) as supervisor:
            first = await cockpit.start()
            seat = supervisor.fleet.seat("api")
            await cockpit.event("agent.compacted")
            conduct = seat.sitting.conduct
            assert first.session_id is not None
            assert supervisor.instruments.store.latched(seat.session.id, HELD)  # type: ignore[union-attr]
            assert conduct.compactions_announced == conduct.compactions + 1
            folder = cockpit.places.state / "verdicts" / "api"
            assert not (folder / "PreCompact").exists()

    asyncio.run(journey())


def test_a_compaction_is_not_held_for_longer_than_the_document_takes(cockpit: Cockpit) -> None:
    async def journey() -> None:
        async with cockpit.flying(cockpit.agent(steps=30)) as supervisor:
            first = await cockpit.start()
            await cockpit.event("handoff.documenting")
            await cockpit.until(lambda row: row.handoffs == 1 and row.handoff is None)
            assert supervisor.instruments.store.latched(first.session_id, HELD) is None  # type: ignore[arg-type]
            assert not (cockpit.places.state / "verdicts" / "api" / "PreCompact").exists()

    asyncio.run(journey())


def test_hybrid_hands_off_at_the_first_crossing_after_its_compactions(cockpit: Cockpit) -> None:
    async def journey() -> None:
        more = "[agents.handoff]\ncompactions = 1"
        async with cockpit.flying(cockpit.agent(**{**strategy("hybrid", more), "steps": 40})):
            await cockpit.start()
            begun = await cockpit.event("handoff.begun")
            assert begun.data["reason"] == "compaction"
            assert [
                each.data["compactions"] for each in await cockpit.events("agent.compacted")
            ] == [1]
            await cockpit.until(lambda row: row.handoffs == 1)

    asyncio.run(journey())


def test_a_compaction_that_came_first_is_told_with_how_late_that_is(cockpit: Cockpit) -> None:
    async def journey() -> None:
        async with cockpit.flying(cockpit.agent(mode="observe", **GROWING)):
            await cockpit.start()
            told = await cockpit.event("agent.compacted")
            assert "a handoff would have been too late by 64k" in told.text
            row = await cockpit.until(lambda row: row.note)
            assert row.note == (
                "it compacted by itself, 64k past the act mark: a handoff would have been too late"
            )
            assert row.compactions == 1

    asyncio.run(journey())


def test_a_question_is_taken_back_when_the_compaction_was_first(cockpit: Cockpit) -> None:
    async def journey() -> None:
        async with cockpit.flying(cockpit.agent(mode="prompt", **{**GROWING, "steps": 12})):
            first = await cockpit.start()
            await cockpit.event("handoff.cancelled")
            assert (await cockpit.event("handoff.cancelled")).data["why"] == (
                "the context was compacted"
            )
            assert (await cockpit.row()).session_id == first.session_id
            # It was about another context: no rest holds the next question back.
            await cockpit.event("handoff.begun", number=2)

    asyncio.run(journey())
