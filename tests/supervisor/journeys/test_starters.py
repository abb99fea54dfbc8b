"""What starts a handoff beside a band, and what holds one back: limits, loops, guards."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from cockpit.core import document
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Approve, Handoff, Refuse, Snooze
from tests.long_cases import cases

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


def swapped(row: AgentStatus) -> bool:
    return row.handoffs == 1 and row.handoff is None


def asks(kind: str) -> Callable[[AgentStatus], bool]:
    return lambda row: row.needs is not None and row.needs.kind == kind


@pytest.mark.long
async def test_a_limit_of_turns_hands_off_long_before_any_band(cockpit: Cockpit) -> None:
    agent = cockpit.agent(steps=40, step_tokens=100, more="[agents.limits]\nturns = 4")
    async with cockpit.flying(agent):
        await cockpit.start()
        begun = await cockpit.event("handoff.begun")
        assert begun.data["reason"] == "limit"
        assert "turns of at most 4" in begun.text
        await cockpit.until(swapped)


@pytest.mark.long
async def test_a_limit_is_told_as_a_limit_and_not_as_a_full_context(cockpit: Cockpit) -> None:
    agent = cockpit.agent(
        "api", "prompt", steps=40, step_tokens=100, more="[agents.limits]\nturns = 4"
    )
    async with cockpit.flying(agent):
        await cockpit.start()
        row = await cockpit.until(asks("handoff"))
        assert row.needs is not None
        assert row.needs.detail.startswith("hand off? its session is at its limit (")
        assert "turns of at most 4" in row.needs.detail
        await cockpit.ask(Approve(name="api"))
        row = await cockpit.until(asks("review"))
        assert row.handoff is not None
        assert row.handoff.reason == "limit"
        paper = (cockpit.repository / str(row.handoff.document)).read_text()
        front = document.read(paper).front
        assert front is not None
        assert front.trigger == "limit"
        assert "filling" not in "".join(map(str, cockpit.said(row)))


async def test_a_limit_of_time_needs_no_news_of_the_agent(cockpit: Cockpit) -> None:
    agent = cockpit.agent(
        steps=40, pause=3, step_tokens=100, more='[agents.limits]\nsession_time = "4s"'
    )
    async with cockpit.flying(agent):
        await cockpit.start()
        # On a machine that needs longer for the turn, the limit ends the turn.
        await cockpit.until(lambda row: row.state == "idle" or row.handoff)
        begun = await cockpit.event("handoff.begun")
        assert "s of at most 4 s" in begun.text


@pytest.mark.long
async def test_a_limit_of_time_ends_a_turn_that_will_not_end(cockpit: Cockpit) -> None:
    agent = cockpit.agent(
        steps=900,
        settles=0,
        step_tokens=10,
        faults="first:restless",
        more='[agents.handoff]\nwriters = ["facts"]\n'
        '[agents.limits]\nsession_time = "1s"\ngrace = "1s"',
    )
    async with cockpit.flying(agent):
        first = await cockpit.start()
        second = await cockpit.until(swapped)
        assert second.session_id != first.session_id
        assert len(await cockpit.events("handoff.interrupted")) == 1


@pytest.mark.parametrize("said", cases("tell", long=["off"]))
async def test_the_agent_itself_is_told_at_the_warn_mark_where_you_want_it(
    cockpit: Cockpit, said: str
) -> None:
    marks = '[agents.context]\nnotice = "20k"\nwarn = "40k"\nact = "160k"\nforce = "170k"'
    agent = cockpit.agent(
        mode="prompt", steps=9, step_tokens=10_000, more=f'on_warning = "{said}"\n{marks}'
    )
    async with cockpit.flying(agent):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.state == "done")
        assert len(await cockpit.events("agent.warned")) == (said == "tell")
        heard = "No handoff document is needed yet" in "".join(map(str, cockpit.said(row)))
        assert heard == (said == "tell")
        assert await cockpit.events("handoff.begun") == []


async def test_what_is_done_is_not_handed_off_for_any_limit(cockpit: Cockpit) -> None:
    agent = cockpit.agent(steps=3, step_tokens=100, more="[agents.limits]\nturns = 3")
    async with cockpit.flying(agent) as supervisor:
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "done")
        await supervisor.triggers.consider(supervisor.fleet.agent("api"))
        assert await cockpit.events("handoff.begun") == []


LOOP = "[agents.loop]\nenabled = true\nmax_iterations = {}"


@pytest.mark.long
async def test_a_loop_goes_round_until_the_job_is_said_to_be_done(cockpit: Cockpit) -> None:
    agent = cockpit.agent(steps=5, pause=3, step_tokens=100, more=LOOP.format(4))
    async with cockpit.flying(agent):
        first = await cockpit.start()
        assert "LOOP_COMPLETE" in (await first_prompt(cockpit, first))
        begun = await cockpit.event("handoff.begun")
        assert begun.data["reason"] == "loop"
        second = await cockpit.until(lambda row: row.handoffs == 1)
        told = await first_prompt(cockpit, second)
        assert "iteration 2 of at most 4" in told
        assert told.endswith("LOOP_COMPLETE")


async def first_prompt(cockpit: Cockpit, row: AgentStatus) -> str:
    held = await cockpit.until(
        lambda now: now.session_id == row.session_id and now.last_activity_at is not None
    )
    for _ in range(500):
        try:
            if prompts := cockpit.prompts(held):
                return prompts[0]
        except FileNotFoundError:
            pass  # the record is made with the first prompt
        await asyncio.sleep(0.02)
    raise AssertionError("there is no prompt in the record")


@pytest.mark.long
async def test_a_loop_ends_after_its_iterations_and_says_so(cockpit: Cockpit) -> None:
    agent = cockpit.agent(steps=9, pause=2, step_tokens=100, more=LOOP.format(1))
    async with cockpit.flying(agent):
        await cockpit.start()
        await cockpit.event("loop.exhausted")
        assert await cockpit.events("handoff.begun") == []
        row = await cockpit.until(lambda row: row.needs is not None)
        assert row.needs is not None
        assert (row.state, row.needs.kind) == ("needs_you", "failed")
        assert "loop.max_iterations" in row.needs.detail
        told = await cockpit.event("agent.needs_you")
        assert "ran 1 times" in told.text
    async with cockpit.flying():
        again = await cockpit.until(lambda row: row.needs is not None)
        assert again.needs == row.needs


@pytest.mark.long
async def test_a_turn_that_the_pilot_interrupted_begins_no_next_round(cockpit: Cockpit) -> None:
    agent = cockpit.agent(steps=200, pace=0.1, step_tokens=100, more=LOOP.format(3))
    async with cockpit.flying(agent) as supervisor:
        first = await cockpit.start()
        await cockpit.until(lambda _: supervisor.fleet.agent("api").session_state.replied)
        assert first.pane is not None
        cockpit.tmux("send-keys", "-t", first.pane, "Escape")
        row = await cockpit.until(lambda row: row.state == "idle")
        await supervisor.triggers.consider(supervisor.fleet.agent("api"))
        row = await cockpit.until(lambda row: row.note)
        assert "the loop is paused, because the turn was interrupted" in str(row.note)
        assert await cockpit.events("handoff.begun") == []
    async with cockpit.flying() as supervisor:
        await supervisor.triggers.consider(supervisor.fleet.agent("api"))
        row = await cockpit.until(lambda row: row.note)
        assert "the loop is paused, because the turn was interrupted" in str(row.note)
        assert await cockpit.events("handoff.begun") == []


@pytest.mark.long
async def test_a_loop_goes_on_when_the_process_has_ended(cockpit: Cockpit) -> None:
    agent = cockpit.agent(steps=40, pace=0.1, step_tokens=100, more=LOOP.format(3))
    async with cockpit.flying(agent) as supervisor:
        first = await cockpit.start()
        await cockpit.until(lambda _: supervisor.fleet.agent("api").session_state.replied)
        assert first.pid is not None
        # Not by keys: the turn that Ctrl+C ends may begin the next round before Ctrl+D is read.
        os.kill(first.pid, signal.SIGTERM)
        await cockpit.event("agent.exited")
        assert (await cockpit.event("handoff.document")).data["writer"] == "facts"
        second = await cockpit.until(swapped)
        assert second.session_number == 2
        await cockpit.lives(second)


@pytest.mark.long
async def test_a_usage_limit_is_waited_for_and_never_looped_against(cockpit: Cockpit) -> None:
    limited = cockpit.agent(steps=9, step_tokens=100, faults="limited", more=LOOP.format(9))
    async with cockpit.flying(limited) as supervisor:
        await cockpit.start()
        row = await cockpit.until(asks("usage_limit"))
        assert row.needs is not None
        assert "it resets at 18 May 2033 03:33 UTC" in row.needs.detail
        agent = supervisor.fleet.agent("api")
        await supervisor.triggers.consider(agent)
        assert (
            agent.progress.waits
            == "waiting: the account's usage limit resets at 18 May 2033 03:33 UTC"
        )
        assert await cockpit.events("handoff.begun") == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        ("limited", "usage_limit", "limit reached; it resets at 18 May 2033 03:33 UTC"),
        ("overloaded", "failed", "The turn was interrupted; send a prompt to continue"),
    ],
)
async def test_what_broke_a_turn_is_still_told_by_a_supervisor_that_was_away(
    cockpit: Cockpit, fault: str, kind: str, words: str
) -> None:
    async with cockpit.flying(cockpit.agent(steps=9, step_tokens=100, faults=fault)):
        await cockpit.start()
        first = await cockpit.until(asks(kind))
    async with cockpit.flying():
        again = await cockpit.until(asks(kind))
    assert first.needs is not None
    assert again.needs is not None
    assert words in first.needs.detail
    assert words in again.needs.detail
    assert again.needs.resets_at == first.needs.resets_at


async def test_the_agent_itself_may_begin_one(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(steps=60, step_tokens=100, pace=0.1)):
        await cockpit.start()
        await cockpit.until(lambda row: row.activity)
        await cockpit.ask(Handoff(name="api", by_agent=True))
        assert (await cockpit.event("handoff.begun")).data["reason"] == "agent"
        await cockpit.until(swapped)


async def test_the_agent_does_not_answer_the_question_to_its_user(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="prompt", steps=60, pace=0.1)):
        await cockpit.start()
        asked = await cockpit.until(asks("handoff"))
        refused = await cockpit.refused(Handoff(name="api", by_agent=True))
        assert "Only the user can approve the handoff" in refused.detail
        row = await cockpit.row()
        assert asked.handoff is not None
        assert row.handoff is not None
        # The question's text goes on counting.
        assert (row.handoff.id, row.handoff.phase) == (asked.handoff.id, "asked")
        assert row.needs is not None
        done = await cockpit.ask(Handoff(name="api"))
        assert (done.message, done.name) == ("Approved: handing off api", "api")
        await cockpit.until(lambda row: row.handoff is None or row.handoff.phase != "asked")


async def test_an_agent_is_told_whether_its_user_is_asked_or_a_handoff_runs(
    cockpit: Cockpit,
) -> None:
    table = cockpit.agent(
        steps=30,
        step_tokens=100,
        faults="first:stuck",
        more='[agents.handoff]\nwriters = ["facts"]\n',
    )
    other = Handoff(name="api", model="opus", by_agent=True)
    async with cockpit.flying(table):
        await cockpit.start()
        await cockpit.until(lambda row: row.activity)
        would = (await cockpit.ask(other.model_copy(update={"dry_run": True}))).message
        assert "you review the document before the session ends" in would
        assert "cockpit asks you first: api wants to continue with opus" in would
        own = await cockpit.ask(Handoff(name="api", by_agent=True, dry_run=True))
        assert "no review: the agent's mode is auto" in own.message

        await cockpit.ask(other)
        await cockpit.until(asks("handoff"))
        assert "Only the user can approve the handoff" in (await cockpit.refused(other)).detail
        await cockpit.ask(Approve(name="api", straight=True))
        await cockpit.until(lambda row: row.handoff and row.handoff.phase == "waiting")
        refused = await cockpit.refused(Handoff(name="api", by_agent=True))
        assert refused.title == "A handoff of api is already in progress"


async def test_a_question_is_put_off_until_more_is_used(cockpit: Cockpit) -> None:
    agent = cockpit.agent(mode="prompt", steps=60, step_tokens=30_000, pace=0.1)
    async with cockpit.flying(agent):
        await cockpit.start()
        asked = await cockpit.until(asks("handoff"))
        assert asked.context.tokens is not None
        done = await cockpit.ask(Snooze(name="api", percent=50))
        assert done.message == "Asking again at 160k tokens (api)"  # the force threshold
        row = await cockpit.until(lambda row: row.needs is None)
        assert row.handoff is not None
        assert row.handoff.detail == "asking you again at 160k tokens"
        assert row.handoff.snoozed_until_tokens == 160_000

        again = await cockpit.until(asks("handoff"))
        assert again.context.band == "force"
        refused = await cockpit.refused(Snooze(name="api", percent=50))
        assert refused.title == "The context of api is above the force threshold"
        assert "cockpit snooze api 10m" in refused.hint
        await cockpit.ask(Refuse(name="api", handoff=row.handoff.id))


@pytest.mark.long
async def test_what_the_pilot_lets_compact_is_asked_about_again_only_afterwards(
    cockpit: Cockpit,
) -> None:
    more = '[agents.handoff]\ncooldown = "0s"'
    agent = cockpit.agent(
        mode="prompt", steps=40, settles=0, step_tokens=30_000, pace=0.4, more=more
    )
    async with cockpit.flying(agent):
        await cockpit.start()
        await cockpit.until(asks("handoff"))
        await cockpit.ask(Refuse(name="api", compact=True))
        row = await cockpit.until(lambda row: row.note)
        assert "waiting for the next compaction" in (row.note or "")
        await cockpit.event("agent.compacted")
        assert len(await cockpit.events("handoff.begun")) == 1
        await cockpit.event("handoff.begun", number=2)


async def test_a_refused_question_says_on_the_row_when_it_comes_again(cockpit: Cockpit) -> None:
    more = '[agents.handoff]\ncooldown = "0s"'
    agent = cockpit.agent(mode="prompt", steps=200, pace=0.1, more=more)
    async with cockpit.flying(agent):
        await cockpit.start()
        await cockpit.until(asks("handoff"))
        await cockpit.ask(Refuse(name="api"))
        row = await cockpit.until(lambda row: row.note)
        assert re.fullmatch(r"you refused the handoff; asking again at \d+k tokens", row.note or "")
        assert row.needs is None


@pytest.mark.long
async def test_a_refused_question_of_an_idle_agent_says_when_it_comes_again(
    cockpit: Cockpit,
) -> None:
    more = '[agents.handoff]\ncooldown = "0s"\ncompletion_marker = "ALL OF IT IS DONE"'
    agent = cockpit.agent(
        mode="prompt", steps=5, step_tokens=30_000, settles=0, pace=0.1, more=more
    )
    async with cockpit.flying(agent):
        await cockpit.start()
        await cockpit.until(asks("handoff"))
        await cockpit.ask(Snooze(name="api", percent=50))
        await cockpit.until(lambda row: row.state == "idle")
        await cockpit.ask(Refuse(name="api"))
        row = await cockpit.until(lambda row: row.note)
        assert "you refused the handoff; asking again at" in (row.note or "")


async def test_an_assumed_window_hands_nothing_off_by_itself(cockpit: Cockpit) -> None:
    # Neither the table of models nor a status line knows the window.
    agent = cockpit.agent(steps=40, faults="lineless", more='model = "a-model-of-ours"')
    async with cockpit.flying(agent):
        await cockpit.start()
        row = await cockpit.until(lambda row: "is an estimate" in (row.note or ""))
        assert row.context.confidence == "assumed"
        assert row.context.band in ("act", "force")
        assert await cockpit.events("handoff.begun") == []


SLOWLY: dict[str, Any] = {"steps": 300, "settles": 0, "step_tokens": 8_000, "pace": 0.15}
"""Grows without end, by small steps: the document is written before the context is compacted."""


@pytest.mark.long
async def test_a_breaker_is_the_question_while_it_is_the_reason(cockpit: Cockpit) -> None:
    more = '[agents.handoff]\ncooldown = "0s"\nmax_per_job = 9'
    async with cockpit.flying(cockpit.agent(**SLOWLY, more=more)):
        await cockpit.start()
        row = await cockpit.until(asks("breaker"))
        assert row.needs is not None
        assert "3 handoffs of api in 15 minutes" in row.needs.detail
        assert row.handoffs == 3
        await cockpit.ask(Approve(name="api", straight=True))
        await cockpit.until(lambda row: row.needs is None)


@pytest.mark.long
async def test_an_agent_that_names_another_model_asks_its_user(cockpit: Cockpit) -> None:
    async with cockpit.flying(
        cockpit.agent(steps=200, pace=0.1, step_tokens=100, more='model = "opus"')
    ):
        await cockpit.start()
        await cockpit.until(lambda row: row.activity)
        refused = await cockpit.refused(Handoff(name="api", by_agent=True, model="--auto"))
        assert "is not a valid model name" in refused.title
        await cockpit.ask(Handoff(name="api", by_agent=True, model="sonnet"))
        row = await cockpit.until(asks("handoff"))
        assert row.needs is not None
        assert "api wants to continue with sonnet" in row.needs.detail
