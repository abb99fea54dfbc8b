"""Whole handoffs in the three modes, as a user meets them: asked, reviewed, refused, put off."""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.core import document
from cockpit.core.errors import BadUsage, NotNow
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import (
    Approve,
    Attach,
    Continue,
    Handoff,
    Plan,
    Refuse,
    Send,
    Snooze,
    Start,
    Stop,
    Undo,
)
from tests.long_cases import cases

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


def asks(kind: str) -> Callable[[AgentStatus], object]:
    """A condition: the agent has a question of this kind for the user."""
    return lambda row: row.needs is not None and row.needs.kind == kind


def swapped(row: AgentStatus) -> bool:
    """A handoff was confirmed and is over."""
    return row.handoffs == 1 and row.handoff is None


def papers(cockpit: Cockpit) -> list[Path]:
    return sorted((cockpit.repository / ".cockpit" / "handoffs").glob("handoff-*.md"))


async def test_an_automatic_handoff_swaps_the_session_in_its_place(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(steps=30)):
        first = await cockpit.start()
        second = await cockpit.until(swapped)

        assert (second.pane, second.directory) == (first.pane, first.directory)
        assert second.pid != first.pid
        assert second.session_id != first.session_id
        await cockpit.lives(second)
        assert (second.session_number, second.previous_session_id) == (2, first.session_id)
        assert second.job == first.job

        (chain,) = await cockpit.client.history("api")
        assert [each.number for each in chain.sessions] == [1, 2]
        assert [each.state for each in chain.sessions] == ["handed_off", "live"]
        (paper,) = papers(cockpit)
        assert chain.sessions[0].document == str(paper)
        text = paper.read_text()
        assert document.validate(text, complete=True) == []
        assert paper.stat().st_mode & 0o777 == 0o600
        (copy,) = cockpit.places.handoffs.glob("*.md")
        assert copy.read_text() == text
        assert str(paper) in cockpit.prompts(second)[0]
        ident = (await cockpit.event("handoff.confirmed")).data["handoff"]
        assert await cockpit.client.document(ident) == text
        # It is not handed off again: it has just been swapped in.
        done = await cockpit.until(lambda row: row.state == "done")
        assert done.session_id == second.session_id


async def test_prompt_mode_asks_before_and_after_the_document(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="prompt", steps=200, pace=0.5)):
        first = await cockpit.start()
        asked = await cockpit.until(asks("handoff"))
        assert asked.state == "needs_you"
        assert asked.handoff is not None
        assert asked.handoff.phase == "asked"
        assert papers(cockpit) == []
        ready = await cockpit.until(lambda row: row.handoff and row.handoff.document)
        assert ready.state == "needs_you"
        draft = await cockpit.client.document(asked.handoff.id)
        assert "## Verified Facts" in draft
        assert not any("handoff" in text for text in cockpit.prompts(first))

        early = hashlib.sha256(draft.encode()).hexdigest()
        refused = await cockpit.refused(Approve(name="api", sha256=early))
        assert refused.title == "No document of api is under review"
        await cockpit.ask(Approve(name="api", handoff=asked.handoff.id))
        review = await cockpit.until(asks("review"))
        assert review.handoff is not None
        assert review.handoff.phase == "review"
        assert review.handoff.writer == "agent"
        assert review.pid == first.pid

        await cockpit.ask(Approve(name="api"))
        second = await cockpit.until(swapped)
        assert second.pid != first.pid


@pytest.mark.long
async def test_one_word_answers_both_questions(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="prompt", steps=200, pace=0.1)):
        await cockpit.start()
        await cockpit.until(asks("handoff"))
        await cockpit.ask(Approve(name="api", straight=True))
        await cockpit.until(swapped)
        assert await cockpit.events("handoff.review") == []


async def test_a_refused_question_leaves_the_agent_alone_and_is_not_asked_again(
    cockpit: Cockpit,
) -> None:
    async with cockpit.flying(cockpit.agent(mode="prompt", steps=10, step_tokens=40_000)):
        first = await cockpit.start()
        await cockpit.until(asks("handoff"))
        await cockpit.ask(Refuse(name="api"))
        refused = await cockpit.row()
        assert refused.handoff is None
        told = await cockpit.event("handoff.refused")
        assert told.text == "The handoff of api was refused by you"
        assert refused.needs is None
        done = await cockpit.until(lambda row: row.state == "done")
        assert (done.pid, done.session_id) == (first.pid, first.session_id)
        assert len(await cockpit.events("handoff.begun")) == 1
        wrong = await cockpit.refused(Approve(name="api"))
        assert isinstance(wrong, NotNow)


async def test_a_refused_document_stays_and_nothing_is_ended(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="prompt", steps=200, pace=0.5)):
        first = await cockpit.start()
        await cockpit.until(asks("handoff"))
        await cockpit.ask(Approve(name="api"))
        await cockpit.until(asks("review"))
        await cockpit.ask(Refuse(name="api"))
        row = await cockpit.row()
        assert (row.handoff, row.pid) == (None, first.pid)
        assert len(papers(cockpit)) == 1
        # The history keeps what the context held then, while the session goes on.
        (chain,) = await cockpit.client.history("api")
        (refused,) = chain.sessions[0].handoffs
        assert refused.new_session_number is None
        then = refused.tokens or 0
        assert then > 0
        await cockpit.until(lambda row: (row.context.tokens or 0) > then)
        (chain,) = await cockpit.client.history("api")
        assert chain.sessions[0].handoffs[0].tokens == then


@pytest.mark.long
async def test_a_snoozed_question_comes_back(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="prompt", steps=200, pace=0.1)):
        await cockpit.start()
        asked = await cockpit.until(asks("handoff"))
        await cockpit.ask(Snooze(name="api", seconds=1.0))
        assert (await cockpit.row()).needs is None
        again = await cockpit.until(asks("handoff"))
        assert asked.handoff is not None
        assert again.handoff is not None
        assert again.handoff.id == asked.handoff.id


async def test_a_snoozed_question_can_be_woken_and_approved(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="prompt", steps=9, pause=4)):
        await cockpit.start()
        await cockpit.until(asks("handoff"))
        before = datetime.now(UTC)
        for seconds, words in ((20, "20 s"), (90, "1.5 min"), (3600, "1 h")):
            done = await cockpit.ask(Snooze(name="api", seconds=seconds))
            assert done.message == f"Asking again in {words} (api)"
        snoozed = (await cockpit.row()).handoff
        assert snoozed is not None
        assert snoozed.snoozed_until is not None
        until = datetime.fromisoformat(snoozed.snoozed_until)
        assert 3590 < (until - before).total_seconds() < 3660
        done = await cockpit.ask(Snooze(name="api", seconds=0))
        assert "now" in done.message
        woken = await cockpit.until(asks("handoff"))
        assert woken.handoff is not None
        assert woken.handoff.snoozed_until is None
        await cockpit.ask(Snooze(name="api", percent=50))
        tokens = (await cockpit.row()).handoff
        assert tokens is not None
        assert tokens.snoozed_until is None
        assert (tokens.snoozed_until_tokens or 0) > 0
        await cockpit.ask(Approve(name="api"))
        await cockpit.until(asks("review"))


@pytest.mark.long
async def test_an_answer_to_a_question_that_is_over_is_refused(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="prompt", steps=200, pace=0.1)):
        await cockpit.start()
        await cockpit.until(asks("handoff"))
        wrong = await cockpit.refused(Approve(name="api", handoff="another"))
        assert isinstance(wrong, NotNow)
        assert (await cockpit.row()).needs is not None


async def test_an_answer_without_a_question_is_told_what_to_do_instead(cockpit: Cockpit) -> None:
    async def advice() -> str:
        refused = await cockpit.refused(Snooze(name="api", seconds=600))
        assert isinstance(refused, NotNow)
        return refused.hint

    async with cockpit.flying(cockpit.agent(mode="prompt", steps=9, pause=4, step_tokens=100)):
        assert await advice() == "Start the agent: cockpit start api"
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        assert await advice() == "Begin a handoff: cockpit handoff api"
        await cockpit.ask(Stop(name="api"))
        assert await advice() == "Start the agent: cockpit start api --resume"


async def test_an_observed_agent_is_never_handed_off_by_itself(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="observe", steps=6)):
        await cockpit.start()
        done = await cockpit.until(lambda row: row.state == "done")
        assert done.context.band == "act"
        assert await cockpit.events("handoff.begun") == []


@pytest.mark.parametrize("mode", cases("prompt", long=["observe", "auto"]))
async def test_a_handoff_by_hand_has_its_review_unless_automatic(
    cockpit: Cockpit, mode: str
) -> None:
    async with cockpit.flying(cockpit.agent(mode=mode, steps=200, step_tokens=100, pace=0.1)):
        first = await cockpit.start()
        await cockpit.until(lambda row: row.activity)
        await cockpit.ask(Handoff(name="api"))
        again = await cockpit.refused(Handoff(name="api"))
        assert isinstance(again, NotNow)
        if mode != "auto":
            await cockpit.until(asks("review"))
            await cockpit.ask(Approve(name="api"))
        second = await cockpit.until(swapped)
        assert second.pid != first.pid
        assert (await cockpit.event("handoff.begun")).data["reason"] == "manual"


async def test_a_handoff_of_an_idle_agent_is_asked_for_by_a_paste(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(steps=9, pause=2, step_tokens=100)):
        first = await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        await cockpit.ask(Handoff(name="api"))
        await cockpit.until(swapped)
        pasted = cockpit.prompts(first)
        assert "draft-" in pasted[-1]


async def test_a_working_agent_hears_the_request_in_the_middle_of_its_turn(
    cockpit: Cockpit,
) -> None:
    async with cockpit.flying(cockpit.agent(steps=200, pace=0.1)):
        first = await cockpit.start()
        await cockpit.until(swapped)
        injected = [
            line["attachment"]["hookEvent"]
            for line in cockpit.said(first)
            if "hookEvent" in line.get("attachment", {})
        ]
        assert injected == ["PostToolUse"]
        assert len(cockpit.prompts(first)) == 1


@pytest.mark.long
async def test_a_document_of_the_pilots_own_is_taken_as_it_is(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="prompt", steps=9, pause=2, step_tokens=100)):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        notes = cockpit.home / "notes.md"
        notes.write_text("All is well.\n")
        wrong = await cockpit.refused(Handoff(name="api", document=str(notes)))
        assert isinstance(wrong, BadUsage)
        assert (await cockpit.row()).handoff is None

        tried = await cockpit.ask(Handoff(name="api", dry_run=True, model="opus"))
        assert "the new session's model will be opus" in tried.message
        assert tried.text is not None
        own = tried.text.replace("## Key Decisions\n", "## Key Decisions\n\nNever on Fridays.\n")
        notes.write_text(own)
        await cockpit.ask(Handoff(name="api", document=str(notes)))
        review = await cockpit.until(asks("review"))
        assert review.handoff is not None
        assert "Never on Fridays." in await cockpit.client.document(review.handoff.id)
        assert notes.read_text() == own
        await cockpit.ask(Approve(name="api"))
        await cockpit.until(swapped)


@pytest.mark.long
async def test_a_dry_run_tells_and_does_nothing(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="prompt", steps=3, step_tokens=100)):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "done")
        before = (await cockpit.row()).model_dump(exclude={"context"})
        done = await cockpit.ask(Handoff(name="api", dry_run=True))
        assert done.text is not None
        assert "## Verified Facts" in done.text
        assert "\nid:" not in done.text
        assert "writers: agent, facts" in done.message
        assert (await cockpit.row()).model_dump(exclude={"context"}) == before
        assert papers(cockpit) == []
        assert await cockpit.events("handoff.begun") == []


@pytest.mark.long
async def test_a_document_before_the_first_reply_claims_no_window(cockpit: Cockpit) -> None:
    """Unless the CLI itself reports one, which its status line may do before the reply."""
    async with cockpit.flying(cockpit.agent(mode="prompt", pace=600, faults="lineless")):
        await cockpit.start()
        await cockpit.until(lambda row: row.pid)
        done = await cockpit.ask(Handoff(name="api", dry_run=True))
        assert done.text is not None
        assert "## Verified Facts" in done.text
        assert "200000" not in done.text


@pytest.mark.long
async def test_now_does_not_wait_for_a_turn_that_will_not_end(cockpit: Cockpit) -> None:
    async with cockpit.flying(
        cockpit.agent(steps=2000, step_tokens=10, pace=0.2, faults="first:nodocument")
    ):
        await cockpit.start()
        await cockpit.until(lambda row: row.activity)
        await cockpit.ask(Handoff(name="api", now=True))
        await cockpit.event("handoff.interrupted")
        await cockpit.until(lambda row: row.handoff and row.handoff.phase == "documenting")


async def test_an_agent_that_writes_nothing_is_replaced_by_facts(cockpit: Cockpit) -> None:
    deadline = '[agents.handoff]\ndeadline = "3s"'
    async with cockpit.flying(cockpit.agent(steps=9, faults="first:nodocument", more=deadline)):
        await cockpit.start()
        await cockpit.until(swapped)
        assert (await cockpit.event("handoff.document")).data["writer"] == "facts"
        assert document.validate(papers(cockpit)[0].read_text(), complete=True) == []


@pytest.mark.long
async def test_a_bad_document_is_asked_for_again_and_then_facts_are_taken(cockpit: Cockpit) -> None:
    deadline = '[agents.handoff]\ndeadline = "20s"'
    async with cockpit.flying(cockpit.agent(steps=9, faults="first:baddocument", more=deadline)):
        first = await cockpit.start()
        await cockpit.until(swapped)
        again = [text for text in cockpit.prompts(first) if "draft-" in text]
        assert again
        assert (await cockpit.event("handoff.document")).data["writer"] == "facts"


@pytest.mark.long
async def test_the_first_prompt_does_not_call_off_a_handoff_that_was_asked_for_at_once(
    cockpit: Cockpit,
) -> None:
    async with cockpit.flying(cockpit.agent(mode="prompt", steps=9, step_tokens=100)):
        await cockpit.start()
        await cockpit.ask(Handoff(name="api"))
        await cockpit.until(asks("review"))
        assert await cockpit.events("handoff.cancelled") == []


async def test_a_new_prompt_by_the_pilot_calls_an_open_request_off(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(steps=9, pause=2, step_tokens=100, faults="stuck")):
        first = await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        busy = git_folder(cockpit) / "MERGE_HEAD"
        busy.write_text("0" * 40)
        await cockpit.ask(Handoff(name="api"))
        waiting = await cockpit.until(lambda row: row.handoff and row.handoff.detail)
        assert waiting.handoff is not None
        assert "merge" in (waiting.handoff.detail or "")
        await cockpit.ask(Send(name="api", text="Go on, please."))
        await cockpit.event("handoff.cancelled")
        row = await cockpit.row()
        assert (row.handoff, row.pid) == (None, first.pid)
        busy.unlink()


def git_folder(cockpit: Cockpit) -> Path:
    return cockpit.repository / ".git"


@pytest.mark.long
async def test_a_git_operation_in_progress_is_waited_for(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(steps=9, pause=2, step_tokens=100)):
        first = await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        busy = git_folder(cockpit) / "MERGE_HEAD"
        busy.write_text("0" * 40)
        await cockpit.ask(Handoff(name="api"))
        await cockpit.until(lambda row: row.handoff and "merge" in (row.handoff.detail or ""))
        assert len(cockpit.prompts(first)) == 1
        busy.unlink()
        await cockpit.until(swapped)


async def test_a_permission_dialog_is_never_typed_into(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(steps=30, step_tokens=100, faults="first:permission")):
        await cockpit.start()
        asked = await cockpit.until(asks("permission"))
        assert asked.pane is not None
        refused = await cockpit.refused(Send(name="api", text="1"))
        assert isinstance(refused, NotNow)
        await cockpit.ask(Handoff(name="api"))
        waiting = await cockpit.until(lambda row: row.handoff and row.handoff.detail)
        assert waiting.handoff is not None
        assert waiting.handoff.phase == "waiting"
        assert waiting.needs is not None
        assert waiting.needs.kind == "permission"
        assert "do you want to proceed" in cockpit.tmux("capture-pane", "-p", "-t", asked.pane)
        cockpit.tmux("send-keys", "-t", asked.pane, "Enter")
        await cockpit.until(swapped)


@pytest.mark.long
async def test_the_key_that_leads_to_a_dialog_does_not_answer_it(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(steps=3, step_tokens=100, faults="first:permission")):
        await cockpit.start()
        asked = await cockpit.until(asks("permission"))
        assert asked.pane is not None

        pane = asked.pane

        def off() -> str:
            return cockpit.tmux("list-panes", "-t", pane, "-F", "#{pane_input_off}")

        await cockpit.ask(Attach(name="api"))
        assert off().strip() == "1"
        cockpit.tmux("send-keys", "-t", pane, "Enter")
        while off().strip() != "0":
            await asyncio.sleep(0.02)
        assert (await cockpit.row()).state == "needs_you"
        cockpit.tmux("send-keys", "-t", pane, "Enter")
        answered = await cockpit.until(lambda row: row.state != "needs_you")
        await cockpit.ask(Attach(name="api"))
        assert (answered.pane, off().strip()) == (pane, "0")


async def test_a_deaf_agent_and_its_orphan_are_gone_before_the_successor_starts(
    cockpit: Cockpit,
) -> None:
    async with cockpit.flying(cockpit.agent(steps=9, faults="first:deaf,first:orphan")):
        first = await cockpit.start()
        second = await cockpit.until(swapped)
        ended = await cockpit.event("agent.ended")
        assert ended.data["killed"] is True
        assert len(ended.data["stragglers"]) >= 1
        await cockpit.lives(second)
        assert not Path(f"/proc/{first.pid}").exists()
        kinds = [each.kind for each in await cockpit.events()]
        assert kinds.index("agent.ended") < kinds.index("handoff.starting")


async def test_a_successor_that_will_not_start_brings_the_old_session_back(
    cockpit: Cockpit,
) -> None:
    async with cockpit.flying(cockpit.agent(steps=9, faults="successor:exit")):
        first = await cockpit.start()
        await cockpit.event("handoff.revived")
        back = await cockpit.until(lambda row: row.handoff is None and row.needs is not None)
        assert back.needs is not None
        assert (back.state, back.needs.kind) == ("needs_you", "failed")
        assert "cockpit handoff api" in back.needs.detail
        starts = [each.at for each in await cockpit.events("handoff.starting")]
        took = [datetime.fromisoformat(each) for each in starts]
        assert (took[-1] - took[0]).total_seconds() >= 4
        assert back.session_id == first.session_id
        assert (back.session_number, back.handoffs, back.pane) == (1, 0, first.pane)
        await cockpit.lives(back)
        notice = cockpit.repository / ".cockpit" / "handoffs" / "HANDOFF_PENDING.md"
        assert str(papers(cockpit)[0]) in notice.read_text()
        # It is written before that is tried, which may fail as well.
        assert "was reopened" not in notice.read_text()
        assert "the handoff failed" in (back.note or "")
    async with cockpit.flying():
        again = await cockpit.until(lambda row: row.needs is not None)
        assert again.needs == back.needs
        await cockpit.ask(Send(name="api", text="Go on."))
        await cockpit.until(lambda row: row.needs is None)
        await cockpit.ask(Stop(name="api"))
        offer = (
            "is waiting in the directory; to continue from the document: cockpit "
            f"continue {papers(cockpit)[0]}"
        )
        here = str(cockpit.repository)
        assert offer in (await cockpit.ask(Plan(name="other", directory=here))).message
        assert offer in (await cockpit.ask(Start(name="other", directory=here))).message
        await cockpit.ask(Stop(name="other"))
        await cockpit.ask(Continue(document=str(papers(cockpit)[0]), name="next"))
        assert not notice.exists()
        assert (
            "is waiting in the directory"
            not in (await cockpit.ask(Plan(name="one", directory=here))).message
        )


@pytest.mark.long
async def test_a_handoff_that_came_to_nothing_is_not_begun_again_without_growth(
    cockpit: Cockpit,
) -> None:
    """The session is the same one, with the same context: it would only be ended once more."""

    rest = '[agents.handoff]\ncooldown = "100ms"'
    async with cockpit.flying(cockpit.agent(steps=9, faults="successor:exit", more=rest)):
        await cockpit.start()
        await cockpit.event("handoff.revived")
        back = await cockpit.until(lambda row: row.handoff is None and row.needs)
        await asyncio.sleep(2.0)
        assert (await cockpit.row()).pid == back.pid
        assert len(await cockpit.events("handoff.begun")) == 1
        assert "trying again at" in ((await cockpit.row()).note or "")


async def test_undo_reopens_the_session_before_and_keeps_the_other(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(steps=9)):
        first = await cockpit.start()
        wrong = await cockpit.refused(Undo(name="api"))
        assert isinstance(wrong, NotNow)
        second = await cockpit.until(lambda row: swapped(row) and row.state == "done")
        await cockpit.ask(Undo(name="api"))
        back = await cockpit.until(lambda row: row.state == "idle")
        assert back.pid not in (None, second.pid)
        assert (back.session_id, back.session_number) == (first.session_id, 1)
        assert (back.handoffs, back.pane) == (1, first.pane)
        await cockpit.lives(back)
        (chain,) = await cockpit.client.history("api")
        assert [each.state for each in chain.sessions] == ["live", "undone"]
        assert len(papers(cockpit)) == 1


@pytest.mark.long
async def test_an_agent_that_is_handed_over_is_neither_started_nor_lost_by_a_stop(
    cockpit: Cockpit,
) -> None:
    async with cockpit.flying(cockpit.agent(mode="prompt", steps=200, pace=0.1)):
        await cockpit.start()
        await cockpit.until(asks("handoff"))
        wrong = await cockpit.refused(Start(name="api"))
        assert isinstance(wrong, NotNow)
        await cockpit.ask(Stop(name="api"))
        row = await cockpit.row()
        assert (row.state, row.handoff, row.needs) == ("stopped", None, None)
        assert cockpit.living(row) == []
        assert (await cockpit.event("handoff.cancelled")).data["why"]


def digest(paper: Path) -> str:
    """What says that the document was read as it is on disk."""
    return hashlib.sha256(paper.read_bytes()).hexdigest()


@pytest.mark.long
async def test_an_edit_that_breaks_the_document_is_refused_and_one_that_does_not_is_taken(
    cockpit: Cockpit,
) -> None:
    async with cockpit.flying(cockpit.agent(mode="prompt", steps=9)):
        first = await cockpit.start()
        await cockpit.until(asks("handoff"))
        await cockpit.ask(Approve(name="api"))
        await cockpit.until(asks("review"))
        (paper,) = papers(cockpit)
        sealed = paper.read_text()
        paper.write_text("All is well.\n")
        wrong = await cockpit.refused(Approve(name="api", sha256=digest(paper)))
        assert isinstance(wrong, BadUsage)
        assert (await cockpit.row()).pid == first.pid
        paper.write_text(
            sealed.replace("## Key Decisions\n", "## Key Decisions\n\nNever on Fridays.\n")
        )
        await cockpit.ask(Approve(name="api", sha256=digest(paper)))
        await cockpit.until(swapped)
        assert "Never on Fridays." in papers(cockpit)[-1].read_text()


async def test_nothing_is_ended_for_a_document_that_is_gone(cockpit: Cockpit) -> None:
    async with cockpit.flying(
        cockpit.agent(mode="prompt", steps=30, step_tokens=100, faults="first:stuck")
    ):
        first = await cockpit.start()
        assert cockpit.supervisor is not None
        running = cockpit.supervisor.fleet.agent("api").session_state.reading.running
        await cockpit.until(lambda _: any("sleep 600" in name for name in running.names))
        own = await cockpit.ask(Handoff(name="api", dry_run=True))
        notes = cockpit.home / "notes.md"
        notes.write_text(own.text or "")
        await cockpit.ask(Handoff(name="api", document=str(notes)))
        await cockpit.until(asks("review"))
        await cockpit.ask(Approve(name="api"))
        await cockpit.until(lambda row: row.handoff and row.handoff.phase == "waiting")
        papers(cockpit)[0].unlink()
        for copy in cockpit.places.handoffs.glob("*.md"):
            copy.unlink()
        assert first.pane is not None
        cockpit.tmux("send-keys", "-t", first.pane, "Escape")
        child = next(Path(f"/proc/{first.pid}/task/{first.pid}").glob("children"))
        for pid in child.read_text().split():
            os.kill(int(pid), signal.SIGTERM)
        failed = await cockpit.until(asks("failed"))
        assert "is not the approved one" in (failed.needs.detail if failed.needs else "")
        await cockpit.lives(failed, first)
        await cockpit.ask(Stop(name="api"))
        assert (await cockpit.row()).state == "stopped"


@pytest.mark.long
async def test_a_question_that_a_compaction_answered_is_taken_back(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="prompt", steps=9, step_tokens=24_000, settles=0)):
        await cockpit.start()
        await cockpit.event("agent.compacted")
        gone = await cockpit.event("handoff.cancelled")
        assert gone.data["why"] == "the context was compacted"
        done = await cockpit.until(lambda row: row.state == "done")
        assert (done.handoff, done.compactions) == (None, 1)
        assert done.context.tokens is not None
        assert done.context.tokens < 140_000
