"""A job that is done: the agent is told how to say so in every mode, and you can say it for it."""

from __future__ import annotations

import os
import re
import signal
from typing import TYPE_CHECKING

import pytest

from cockpit.core.errors import NotNow
from cockpit.core.handoff.events import Turn
from cockpit.wire.verbs import Finish, Handoff, Send
from tests.long_cases import cases

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


@pytest.mark.parametrize("mode", cases("prompt", long=["observe"]))
async def test_the_marker_is_told_in_every_mode(cockpit: Cockpit, mode: str) -> None:
    async with cockpit.flying(cockpit.agent(mode=mode, steps=2, step_tokens=1_000)):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.state == "done")
        (prompt,) = cockpit.prompts(row)
        assert prompt.startswith("Count the steps.")
        assert "HANDOFF: COMPLETE" in prompt


@pytest.mark.long
async def test_done_is_said_for_an_agent_until_its_next_prompt(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="prompt", steps=9, step_tokens=1_000, pause=2)):
        assert isinstance(await cockpit.refused(Finish(name="api")), NotNow)
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        assert await cockpit.events("run.completed") == []
        await cockpit.ask(Finish(name="api"))
        await cockpit.until(lambda row: row.state == "done")
        assert len(await cockpit.events("run.completed")) == 1
    async with cockpit.flying():
        await cockpit.until(lambda row: row.state == "done")
        assert len(await cockpit.events("run.completed")) == 1
        await cockpit.ask(Send(name="api", text="One more thing."))
        await cockpit.until(lambda row: row.state == "working")


async def test_a_job_stays_done_when_its_process_ends(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="observe", steps=2, step_tokens=100)):
        await cockpit.start()
        done = await cockpit.until(lambda row: row.state == "done")
        assert done.job_done
        os.kill(done.pid or 0, signal.SIGTERM)
        ended = await cockpit.until(lambda row: row.pid is None)
        assert (ended.state, ended.job_done) == ("exited", True)
        assert re.search(r"[^.]\. Continue in its session: ", ended.note or ""), ended.note


async def test_a_question_about_a_handoff_is_over_when_the_job_is_done(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="prompt", steps=9, pause=3)):
        await cockpit.start()
        await cockpit.until(lambda row: row.needs and row.needs.kind == "handoff")
        assert cockpit.supervisor is not None
        activity = cockpit.supervisor.fleet.agent("api").session_state.activity
        await cockpit.until(lambda _: activity.turn is Turn.IDLE)
        await cockpit.ask(Finish(name="api"))
        row = await cockpit.until(lambda row: row.state == "done")
        assert row.handoff is None


@pytest.mark.long
async def test_now_hurries_a_handoff_that_waits_and_says_what_it_breaks_off(
    cockpit: Cockpit,
) -> None:
    async with cockpit.flying(
        cockpit.agent(mode="prompt", steps=30, step_tokens=100, faults="stuck")
    ):
        await cockpit.start()
        assert cockpit.supervisor is not None
        running = cockpit.supervisor.fleet.agent("api").session_state.reading.running
        await cockpit.until(lambda _: any("sleep 600" in name for name in running.names))
        await cockpit.ask(Handoff(name="api"))
        await cockpit.until(lambda row: row.handoff and row.handoff.phase == "waiting")
        done = await cockpit.ask(Handoff(name="api", now=True))
        assert done.message.startswith("Handing off api without waiting; this interrupts ")
        assert "Bash sleep 600" in done.message
        assert len(await cockpit.events("handoff.begun")) == 1
        row = await cockpit.until(lambda row: row.needs and row.needs.kind == "review")
        assert row.handoff is not None
        # At 1 % the agent was not told that its context is full.
        asked = [text for text in cockpit.prompts(row) if "Note from cockpit" in text]
        assert not any("filling up" in text for text in asked)
