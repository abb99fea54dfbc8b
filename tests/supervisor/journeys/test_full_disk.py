"""A disk that takes nothing more, in the middle of handoffs: told, waited out, nothing lost.

The kernel refuses: the supervisor's process may not let any file grow. Its agents may.
"""

from __future__ import annotations

import resource
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from cockpit.core.errors import Failed, OsProblem
from cockpit.core.handoff.states import Stopping
from cockpit.core.ids import agent_name
from cockpit.supervisor.handoff.documents import DocumentBuilder
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Approve, Down, Handoff, Start, Stop

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


def fill(pid: int) -> None:
    """From now on no file of this process may grow."""
    _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, hard))


def clear(pid: int) -> None:
    _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))


def swapped(row: AgentStatus) -> bool:
    return row.handoffs == 1 and row.handoff is None


def stalled(row: AgentStatus) -> bool:
    return row.needs is not None and "cannot continue" in row.needs.detail


async def test_a_handoff_that_cannot_be_written_down_stands_still_and_goes_on(
    cockpit: Cockpit,
) -> None:
    pid = await cockpit.launch(cockpit.agent(steps=200, step_tokens=100, pace=0.1))
    first = await cockpit.start()
    await cockpit.until(lambda row: row.activity)
    await cockpit.ask(Handoff(name="api"))
    fill(pid)
    waits = await cockpit.until(stalled)
    assert waits.needs is not None
    assert waits.state == "needs_you"
    assert waits.needs.kind == "failed"
    assert "disk" in waits.needs.detail
    assert "retries automatically" in waits.needs.detail
    assert (waits.pid, waits.session_id) == (first.pid, first.session_id)
    await cockpit.lives(waits, first)
    clear(pid)
    second = await cockpit.until(swapped)
    assert second.pid != first.pid
    await cockpit.lives(second)
    await cockpit.until(lambda row: row.needs is None)  # the disk is looked at by itself


@pytest.mark.long
async def test_what_the_pilot_says_is_refused_while_it_cannot_be_written_down(
    cockpit: Cockpit,
) -> None:
    agent = cockpit.agent(mode="prompt", steps=9, pause=2, step_tokens=100)
    pid = await cockpit.launch(agent)
    first = await cockpit.start()
    await cockpit.until(lambda row: row.state == "idle")
    fill(pid)
    assert isinstance(await cockpit.refused(Handoff(name="api")), Failed)
    assert (await cockpit.row()).handoff is None
    clear(pid)
    await cockpit.ask(Handoff(name="api"))
    await cockpit.until(lambda row: row.needs is not None and row.needs.kind == "review")
    fill(pid)
    assert isinstance(await cockpit.refused(Approve(name="api")), Failed)
    row = await cockpit.row()
    assert row.handoff is not None
    assert (row.handoff.phase, row.pid) == ("review", first.pid)
    clear(pid)
    await cockpit.ask(Approve(name="api"))
    await cockpit.until(swapped)


def names(rows: list[AgentStatus]) -> list[str]:
    return [row.name for row in rows]


@pytest.mark.parametrize("defaults", ["", '[defaults.env]\nTOKEN = "of-all-agents"'])
async def test_a_start_that_is_refused_before_anything_ran_leaves_nothing(
    cockpit: Cockpit, defaults: str
) -> None:
    """No row now, and none after a restart; with the room back, it starts as any other."""

    pid = await cockpit.launch(cockpit.agent(), defaults=defaults)
    two = Start(name="two", directory=str(cockpit.repository), prompt="Count.")
    fill(pid)
    refused = await cockpit.refused(two)
    assert isinstance(refused, Failed)
    assert "the disk" in refused.hint
    assert names((await cockpit.client.status()).agents) == ["api"]
    cockpit.kill()
    pid = await cockpit.launch()
    assert names((await cockpit.client.status()).agents) == ["api"]
    await cockpit.ask(two)
    assert (await cockpit.row("two")).pid is not None


@pytest.mark.long
async def test_what_a_full_disk_kept_of_a_refused_start_goes_with_the_next_supervisor(
    cockpit: Cockpit,
) -> None:
    async with cockpit.flying(cockpit.agent()) as supervisor:
        settings, _ = supervisor.starter.settings.combined(
            agent_name("two"), Start(name="two", directory=str(cockpit.repository))
        )
        supervisor.fleet.take_up(settings, None)
    async with cockpit.flying():
        assert names((await cockpit.client.status()).agents) == ["api"]


@pytest.mark.long
async def test_a_refused_start_leaves_no_job_behind(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent()) as supervisor:
        (inside := cockpit.repository / "new").mkdir()  # in no commit, so in no worktree
        await cockpit.refused(Start(name="two", directory=str(inside), worktree=True))
        assert names((await cockpit.client.status()).agents) == ["api"]
        assert supervisor.dependencies.store.jobs() == []


@pytest.mark.long
async def test_stop_needs_no_room_on_the_disk(cockpit: Cockpit) -> None:
    """The agent ends, the answer says what is not written down, and it is written later."""

    pid = await cockpit.launch(cockpit.agent(mode="prompt", steps=200, step_tokens=100))
    first = await cockpit.start()
    await cockpit.until(lambda row: row.activity)
    fill(pid)
    done = await cockpit.ask(Stop(name="api"))
    assert done.message.startswith("Stopped api")
    assert "could not save" in done.message
    assert cockpit.living(first) == []
    assert (await cockpit.row()).state == "stopped"
    assert await cockpit.events("agent.stopped") == []
    clear(pid)
    await cockpit.event("agent.stopped")
    cockpit.kill()
    await cockpit.launch()
    row = await cockpit.row()
    assert (row.state, row.needs) == ("stopped", None)


@pytest.mark.long
async def test_stop_says_why_a_handoff_keeps_it_from_ending(cockpit: Cockpit) -> None:
    """A handoff that is open on the disk would go on after a restart."""

    agent = cockpit.agent(mode="prompt", steps=9, pause=2, step_tokens=100)
    pid = await cockpit.launch(agent)
    first = await cockpit.start()
    await cockpit.until(lambda row: row.state == "idle")
    await cockpit.ask(Handoff(name="api"))
    await cockpit.until(lambda row: row.needs is not None and row.needs.kind == "review")
    fill(pid)
    refused = await cockpit.refused(Stop(name="api"))
    assert refused.title == "api was not stopped: cockpit cannot cancel its handoff"
    assert "df -h" in refused.hint
    await cockpit.lives(first)
    clear(pid)
    await cockpit.ask(Stop(name="api"))
    assert cockpit.living(first) == []


@pytest.mark.long
async def test_down_with_agents_needs_no_room_on_the_disk(cockpit: Cockpit) -> None:
    pid = await cockpit.launch(cockpit.agent(mode="prompt", steps=200, step_tokens=100))
    first = await cockpit.start()
    await cockpit.until(lambda row: row.activity)
    fill(pid)
    done = await cockpit.ask(Down(agents=True))
    assert "could not save" in done.message
    assert cockpit.process is not None
    assert cockpit.process.wait(60) == 0
    assert cockpit.living(first) == []
    assert not cockpit.places.socket.exists()


async def test_a_handoff_is_abandoned_on_the_disk_before_it_is_in_memory(cockpit: Cockpit) -> None:
    table = cockpit.agent(mode="prompt", steps=9, pause=2, step_tokens=100)
    async with cockpit.flying(table) as supervisor:
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        await cockpit.ask(Handoff(name="api"))
        await cockpit.until(lambda row: row.needs is not None and row.needs.kind == "review")
        agent = supervisor.fleet.agent("api")
        assert agent.handoff is not None
        assert agent.handoff.document is not None
        # Past the point of no return, where no event but this one ends a handoff.
        stopping = replace(agent.handoff, state=Stopping(agent.handoff.document))
        agent.progress.handoff = stopping
        database = supervisor.dependencies.store._database
        database.execute("pragma query_only = on")
        with pytest.raises(OsProblem):
            await supervisor.engine.abandon(agent, "everything ends")
        assert agent.handoff == stopping
        database.execute("pragma query_only = off")
        await supervisor.engine.abandon(agent, "everything ends")
        assert agent.handoff is None


@pytest.mark.long
async def test_a_document_s_copy_is_on_the_disk_before_it_is_in_memory(cockpit: Cockpit) -> None:
    table = cockpit.agent(mode="prompt", steps=9, pause=2, step_tokens=100)
    async with cockpit.flying(table) as supervisor:
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        await cockpit.ask(Handoff(name="api"))
        await cockpit.until(lambda row: row.needs is not None and row.needs.kind == "review")
        agent, store = supervisor.fleet.agent("api"), supervisor.dependencies.store
        builder = DocumentBuilder(supervisor.dependencies, supervisor.sessions)
        assert agent.handoff_record is not None
        agent.progress.record = without = replace(agent.handoff_record, copy=None)
        store.save_handoff(without)
        store._database.execute("pragma query_only = on")
        with pytest.raises(OsProblem):
            await builder.seal(agent, "facts")
        assert agent.handoff_record.copy is None
        store._database.execute("pragma query_only = off")
        await builder.seal(agent, "facts")
        saved = store.handoff(without.id)
        assert saved is not None
        assert saved.copy == agent.handoff_record.copy
        assert saved.copy is not None
