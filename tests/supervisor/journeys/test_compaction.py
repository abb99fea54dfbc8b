"""Compactions and clears as an agent meets them: facts given back, held once, told when late."""

from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cockpit.core import front_matter
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


async def test_facts_are_given_back_with_the_compaction_and_only_once(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(**strategy("compact"))):
        first = await cockpit.start()
        await cockpit.event("facts.given")
        done = await cockpit.until(lambda row: row.state == "done")
        assert (done.session_id, done.handoffs) == (first.session_id, 0)
        assert done.compactions >= 1
        told = injected(cockpit, done)
        # With the compaction, or on a machine too slow for that with the next step.
        assert len(told) == done.compactions
        assert {event for event, _ in told} <= {"SessionStart", "PostToolUse"}
        text = told[0][1]
        assert text.startswith("Note from cockpit (facts ")
        assert "## Original Goal" in text
        assert "Count the steps." in text
        assert len(await cockpit.events("facts.given")) == done.compactions
        assert await cockpit.events("handoff.begun") == []
        assert done.note is None


@pytest.mark.long
async def test_facts_that_were_dropped_go_in_with_the_next_step_and_never_twice(
    cockpit: Cockpit,
) -> None:
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


def type_in(cockpit: Cockpit, row: AgentStatus, text: str) -> None:
    assert row.pane is not None
    cockpit.tmux("send-keys", "-t", row.pane, "-l", text)
    cockpit.tmux("send-keys", "-t", row.pane, "Enter")


@pytest.mark.parametrize("mode", ["auto", "observe"])
async def test_a_cleared_session_is_offered_its_facts(cockpit: Cockpit, mode: str) -> None:
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


@pytest.mark.long
async def test_a_prompt_that_waited_for_the_lock_takes_the_facts_along(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(steps=9, pause=3, step_tokens=100)) as supervisor:
        first = await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        async with supervisor.locks.hold("api", "being tested"):
            type_in(cockpit, first, "/clear")
            await cockpit.until(lambda row: row.session_id != first.session_id)
            sending = asyncio.create_task(cockpit.ask(Send(name="api", text="Go on.")))
            await cockpit.until(lambda _: supervisor.locks._locks["api"].users > 1)
        await sending
        row = await cockpit.until(lambda row: row.state in {"idle", "done"})
        assert [event for event, _ in injected(cockpit, row)] == ["UserPromptSubmit"]


async def test_a_clear_calls_off_the_handoff_of_what_was_cleared(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="prompt", steps=9, pause=4)):
        first = await cockpit.start()
        await cockpit.until(lambda row: row.needs is not None and row.needs.kind == "handoff")
        await cockpit.until(lambda row: row.last_activity_at is not None)
        seen = cockpit.supervisor
        assert seen is not None
        activity = seen.fleet.agent("api").session_state.activity
        while activity.turns == 0:
            await asyncio.sleep(0.02)
        type_in(cockpit, first, "/clear")
        gone = await cockpit.event("handoff.cancelled")
        assert gone.data["why"] == "another session was opened in its pane"
        row = await cockpit.until(lambda row: row.session_id != first.session_id)
        assert (row.pid, row.needs, row.handoff) == (first.pid, None, None)


async def until_lying(cockpit: Cockpit, name: str) -> None:
    folder = cockpit.places.state / "verdicts" / "api"
    for _ in range(500):
        if (folder / name).exists():
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"there is no {name} in {folder}")


async def test_facts_of_the_uncompacted_session_are_on_the_disk_before_it_is_compacted(
    cockpit: Cockpit,
) -> None:
    async with cockpit.flying(cockpit.agent(**strategy("compact"))):
        await cockpit.start()
        kept = await cockpit.event("compaction.kept")
        compacted = await cockpit.event("agent.compacted")
        assert kept.id < compacted.id
        document = Path(kept.data["document"])
        assert compacted.data["document"] == str(document)
        assert str(document) in compacted.text
        front, _ = front_matter.load(document.read_text())
        assert front is not None
        assert (front.writer, front.tokens) == ("facts", compacted.data["tokens"])
        row = await cockpit.row()
        boundary = next(
            line for line in cockpit.said(row) if line.get("subtype") == "compact_boundary"
        )
        at = datetime.fromisoformat(boundary["timestamp"]).timestamp()
        assert document.stat().st_mtime <= at


async def test_a_compaction_goes_on_where_the_disk_refuses_its_document(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(**strategy("compact"))):
        (cockpit.places.state / "compactions").write_text("no folder")
        await cockpit.start()
        await cockpit.event("compaction.not_kept")
        await cockpit.event("agent.compacted")


@pytest.mark.long
async def test_where_it_compacts_is_a_guess_until_it_was_seen_and_then_known_to_all(
    cockpit: Cockpit,
) -> None:
    agent = cockpit.agent(**strategy("compact"))
    other = cockpit.agent("web", steps=9, pause=2, step_tokens=100)
    async with cockpit.flying(agent, other):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.context.compacts_at is not None)
        assert (row.context.compacts_at, row.context.compacts_at_source) == (167_000, "formula")
        row = await cockpit.until(lambda row: row.context.compacts_at_source == "seen")
        assert row.context.compacts_at == 167_000
        await cockpit.start("web")
        await cockpit.until(lambda row: row.context.compacts_at_source == "seen", "web")


@pytest.mark.long
async def test_a_compaction_that_you_ask_for_is_not_told_as_the_clis_own(cockpit: Cockpit) -> None:
    agent = cockpit.agent(mode="observe", steps=9, pause=2, pace=0.5)
    async with cockpit.flying(agent):
        row = await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle" and row.context.tokens)
        type_in(cockpit, row, "/compact")
        told = await cockpit.event("agent.compacted")
        assert told.text.startswith("api compacted its context at your request")
        row = await cockpit.row()
        assert (row.note, row.context.compacts_at_source) == (None, "formula")


@pytest.mark.long
async def test_a_session_that_nobody_watches_compacts_at_once(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="observe", **GROWING)):
        await cockpit.start()
        await cockpit.event("agent.compacted")
        assert await cockpit.events("compaction.kept") == []
        assert not (cockpit.places.state / "verdicts" / "api" / "seal").exists()


@pytest.mark.long
async def test_hybrid_hands_off_at_the_first_crossing_after_its_compactions(
    cockpit: Cockpit,
) -> None:
    more = "[agents.handoff]\ncompactions = 1"
    async with cockpit.flying(cockpit.agent(**{**strategy("hybrid", more), "steps": 40})):
        await cockpit.start()
        begun = await cockpit.event("handoff.begun")
        assert begun.data["reason"] == "compaction"
        assert [each.data["compactions"] for each in await cockpit.events("agent.compacted")] == [1]
        await cockpit.until(lambda row: row.handoffs == 1)


async def test_a_compaction_is_not_too_late_for_an_agent_that_is_only_watched(
    cockpit: Cockpit,
) -> None:
    async with cockpit.flying(cockpit.agent(mode="observe", **GROWING)):
        await cockpit.start()
        told = await cockpit.event("agent.compacted")
        assert told.text.endswith("automatically, 64k tokens above the act threshold")
        row = await cockpit.until(lambda row: row.compactions == 1)
        assert row.note is None


async def test_a_question_is_taken_back_when_the_compaction_was_first(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="prompt", **{**GROWING, "steps": 12})):
        first = await cockpit.start()
        await cockpit.event("handoff.cancelled")
        assert (await cockpit.event("handoff.cancelled")).data["why"] == (
            "the context was compacted"
        )
        assert (await cockpit.row()).session_id == first.session_id
        # It was about another context: no rest holds the next question back.
        await cockpit.event("handoff.begun", number=2)
