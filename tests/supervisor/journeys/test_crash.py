"""The supervisor is killed, and comes back: one live agent, one whole document, one chain."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.core.errors import NoSupervisor
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Approve, Down, Handoff, Stop
from tests.long_cases import cases

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


async def killed_at(cockpit: Cockpit, *kinds: str) -> None:
    """Kill the supervisor the moment that it tells of one of these."""
    with suppress(NoSupervisor):
        async for event in cockpit.client.follow():
            if event.kind in kinds:
                break
    cockpit.kill()


async def check_whole(cockpit: Cockpit, first: AgentStatus, last: AgentStatus) -> None:
    """What must hold after any crash: one agent, the agreed document, a chain without a gap."""
    await cockpit.lives(last)
    assert last.pane == first.pane
    assert last.job == first.job
    assert last.previous_session_id == first.session_id
    assert last.handoffs == 1


async def check_papers(cockpit: Cockpit) -> None:
    (chain,) = await cockpit.client.history("api")
    assert [each.number for each in chain.sessions] == [1, 2]
    first = chain.sessions[0]
    assert first.document is not None
    assert first.handoff is not None
    text = await cockpit.client.document(first.handoff)
    assert Path(first.document).read_text() == text
    copy = cockpit.places.handoffs / f"{first.handoff}.md"
    assert hashlib.sha256(copy.read_bytes()).digest() == hashlib.sha256(text.encode()).digest()


@pytest.mark.parametrize(
    "moment",
    cases(
        "handoff.stopping",
        long=(
            "handoff.documenting",
            "handoff.confirming",
            "handoff.begun",
            "handoff.document",
            "handoff.waiting",
            "agent.ended",
            "handoff.starting",
            "handoff.confirmed",
        ),
    ),
)
async def test_an_automatic_handoff_survives_a_kill_at(cockpit: Cockpit, moment: str) -> None:
    # Slow enough not to compact by itself before the supervisor is back.
    await cockpit.launch(cockpit.agent(steps=400, step_tokens=117_000, pace=0.5))
    watching = asyncio.create_task(killed_at(cockpit, moment))
    first = await cockpit.start()
    await asyncio.wait_for(watching, 60)
    await cockpit.launch()
    last = await cockpit.until(lambda row: row.handoffs == 1 and row.handoff is None)
    last = await cockpit.until(lambda row: row.state in ("working", "done"))
    await check_whole(cockpit, first, last)
    await check_papers(cockpit)


@pytest.mark.long
async def test_a_handoff_survives_a_kill_while_a_deaf_agent_is_being_ended(
    cockpit: Cockpit,
) -> None:
    await cockpit.launch(cockpit.agent(steps=30, faults="first:deaf,first:orphan"))
    watching = asyncio.create_task(killed_at(cockpit, "handoff.stopping"))
    first = await cockpit.start()
    await asyncio.wait_for(watching, 60)
    await cockpit.lives(first)
    await cockpit.launch()
    last = await cockpit.until(lambda row: row.handoffs == 1 and row.handoff is None)
    await check_whole(cockpit, first, last)
    await check_papers(cockpit)


@pytest.mark.parametrize("question", cases("review", long=["handoff"]))
async def test_a_question_survives_a_kill(cockpit: Cockpit, question: str) -> None:
    await cockpit.launch(cockpit.agent(mode="prompt", steps=9, step_tokens=117_000, pause=3))
    first = await cockpit.start()
    asked = await cockpit.until(lambda row: row.needs and row.needs.kind == "handoff")
    if question == "review":
        await cockpit.ask(Approve(name="api"))
        asked = await cockpit.until(lambda row: row.needs and row.needs.kind == "review")
    cockpit.kill()
    await cockpit.launch()
    again = await cockpit.until(lambda row: row.needs)
    assert again.needs is not None
    assert again.needs.kind == question
    assert again.handoff is not None
    assert asked.handoff is not None
    assert again.handoff.id == asked.handoff.id
    assert again.pid == first.pid
    await cockpit.ask(Approve(name="api", straight=True))
    last = await cockpit.until(lambda row: row.handoffs == 1 and row.handoff is None)
    await check_whole(cockpit, first, last)
    await check_papers(cockpit)


@pytest.mark.long
async def test_what_a_dialog_asks_survives_a_kill_and_goes_with_the_dialog(
    cockpit: Cockpit,
) -> None:
    """The hook that told it comes once; the CLI's note only says that something is asked."""

    await cockpit.launch(cockpit.agent(mode="observe", faults="permission", step_tokens=1000))
    await cockpit.start()
    asked = await cockpit.until(lambda row: row.needs and row.needs.tool)
    for _ in range(2):
        cockpit.kill()
        await cockpit.launch()
        again = await cockpit.until(lambda row: row.needs)
        assert again.needs == asked.needs
    cockpit.tmux("send-keys", "-t", str(asked.pane), "Enter")
    await cockpit.until(lambda row: row.needs is None and row.state != "needs_you")
    cockpit.kill()
    database = sqlite3.connect(cockpit.places.database)
    assert database.execute("select * from dialogs").fetchall() == []
    database.close()


@pytest.mark.long
async def test_a_kill_in_every_start_of_a_successor_that_will_not_start_brings_the_old_one_back(
    cockpit: Cockpit,
) -> None:
    await cockpit.launch(cockpit.agent(steps=9, faults="successor:exit"))
    watching = asyncio.create_task(killed_at(cockpit, "handoff.confirming"))
    first = await cockpit.start()
    await asyncio.wait_for(watching, 60)
    await cockpit.launch()
    await cockpit.event("handoff.revived")
    back = await cockpit.until(lambda row: row.handoff is None and row.needs)
    assert (back.session_id, back.handoffs) == (first.session_id, 0)
    await cockpit.lives(back)


async def test_agents_work_on_without_a_supervisor_and_are_found_again(cockpit: Cockpit) -> None:
    await cockpit.launch(
        cockpit.agent("one", "observe", steps=500, step_tokens=100),
        cockpit.agent("two", "observe", steps=3),
    )
    one = await cockpit.start("one")
    two = await cockpit.start("two")
    two = await cockpit.until(lambda row: row.state == "done", "two")
    before = await cockpit.until(lambda row: row.context.tokens, "one")
    cockpit.kill()
    size = Path(one.transcript or "").stat().st_size
    while Path(one.transcript or "").stat().st_size == size:
        await asyncio.sleep(0.02)
    await cockpit.launch()
    after = await cockpit.row("one")
    assert (after.pid, after.pane, after.session_id) == (one.pid, one.pane, one.session_id)
    assert after.context.tokens is not None
    assert before.context.tokens is not None
    assert after.context.tokens >= before.context.tokens
    await cockpit.until(lambda row: row.state == "working", "one")
    again = await cockpit.until(lambda row: row.state == "done", "two")
    assert again.pid == two.pid
    assert again.context.tokens == two.context.tokens
    assert again.cost_usd == two.cost_usd
    assert again.activity == two.activity
    assert len(await cockpit.events("agent.found")) == 2


@pytest.mark.long
async def test_an_agent_that_ended_meanwhile_is_told_of(cockpit: Cockpit) -> None:
    await cockpit.launch(cockpit.agent(mode="observe", steps=3))
    await cockpit.start()
    row = await cockpit.until(lambda row: row.state == "done")
    cockpit.kill()
    assert row.pane is not None
    cockpit.tmux("send-keys", "-t", row.pane, "C-d")
    while cockpit.living(row):
        await asyncio.sleep(0.02)
    await cockpit.launch()
    after = await cockpit.row()
    assert (after.state, after.pid) == ("exited", None)
    assert after.note
    again = await cockpit.start()
    assert again.pid is not None
    assert again.session_id != row.session_id


@pytest.mark.long
async def test_who_failed_to_start_still_needs_the_pilot_after_a_restart(cockpit: Cockpit) -> None:
    await cockpit.launch(cockpit.agent(mode="observe", faults="exit"))
    await cockpit.start()
    row = await cockpit.until(lambda row: row.needs is not None)
    assert row.needs is not None
    assert row.needs.kind == "failed"
    assert row.needs.detail.endswith("Try again: cockpit start api")
    cockpit.kill()
    await cockpit.launch()
    after = await cockpit.row()
    assert (after.state, after.needs) == (row.state, row.needs)
    assert ".." not in f"{after.note}"
    assert len(await cockpit.events("agent.exited")) == 1
    await cockpit.ask(Stop(name="api"))
    stopped = await cockpit.row()
    assert (stopped.state, stopped.needs) == ("stopped", None)
    cockpit.kill()
    await cockpit.launch()
    assert (await cockpit.row()).needs is None


@pytest.mark.long
async def test_what_an_agent_without_a_record_did_is_unknown_after_a_restart(
    cockpit: Cockpit,
) -> None:
    await cockpit.launch(cockpit.agent(mode="observe", steps=3, faults="mute"))
    await cockpit.start()
    before = await cockpit.until(lambda row: row.state == "done")
    cockpit.kill()
    await cockpit.launch()
    row = await cockpit.row()
    assert row.pid == before.pid
    assert row.state in {"unknown", "idle"}
    assert "the earlier work is unknown" in str(row.note)
    # The CLI's own note says that it waits; nobody says whether it is done.
    await cockpit.until(lambda row: row.state == "idle")


@pytest.mark.long
async def test_a_handoff_whose_worktree_is_gone_does_not_keep_the_supervisor_down(
    cockpit: Cockpit,
) -> None:
    more = '[agents.worktree]\nstrategy = "git_worktree"\nbranch = "agent/{agent}"'
    await cockpit.launch(cockpit.agent(mode="prompt", steps=30, more=more))
    await cockpit.start()
    row = await cockpit.until(lambda row: row.needs and row.needs.kind == "handoff")
    cockpit.kill()
    assert row.worktree is not None
    Path(row.worktree).rename(cockpit.home / "elsewhere")
    await cockpit.launch()
    after = await cockpit.row()
    assert after.pid == row.pid
    await cockpit.ask(Down(agents=True))


@pytest.mark.long
async def test_a_pilots_manual_handoff_is_remembered(cockpit: Cockpit) -> None:
    busy = cockpit.repository / ".git" / "MERGE_HEAD"
    await cockpit.launch(cockpit.agent(steps=9, pause=2, step_tokens=100))
    first = await cockpit.start()
    await cockpit.until(lambda row: row.state == "idle")
    busy.write_text("0" * 40)
    await cockpit.ask(Handoff(name="api"))
    cockpit.kill()
    await cockpit.launch()
    busy.unlink()
    last = await cockpit.until(lambda row: row.handoffs == 1 and row.handoff is None)
    await check_whole(cockpit, first, last)
