"""Who lives in a pane of ours without a row is taken up, as far as the process tells who it is."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from cockpit.core.errors import NotNow
from cockpit.core.ids import AgentName, JobId, SessionId
from cockpit.ports.records import JobRecord, SessionRecord
from cockpit.supervisor.sessions.adopt import adopt, adopt_unknown
from cockpit.wire.verbs import Start, Stop
from tests.supervisor.left_alone import Parts, flown, parts_of, until

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


async def regained(parts: Parts) -> bool:
    panes = await parts.panes()
    return adopt(parts.dependencies, parts.sessions, parts.agent, panes.values())


def lose(cockpit: Cockpit) -> None:
    """The database is gone, and all that belongs to it."""
    for path in cockpit.places.database.parent.glob(f"{cockpit.places.database.name}*"):
        path.unlink()


async def test_who_is_on_record_is_not_regained(cockpit: Cockpit) -> None:
    await flown(cockpit)
    async with parts_of(cockpit) as parts:
        assert not await regained(parts)


async def test_a_process_that_is_no_agent_of_this_name_is_left_alone(cockpit: Cockpit) -> None:
    cockpit.configure(cockpit.agent())
    async with parts_of(cockpit) as parts:
        other = await parts.sleeper("web")
        assert not await regained(parts)
        foreign = await parts.sleeper(COCKPIT_RUN="web-1")
        assert not await regained(parts)
        assert parts.agent.record.session is None
        for pane in (other, foreign):
            os.kill(pane.pid, signal.SIGKILL)


async def test_without_documents_its_job_begins_anew_on_record(cockpit: Cockpit) -> None:
    row = await flown(cockpit)
    lose(cockpit)
    async with parts_of(cockpit) as parts:
        assert await regained(parts)
        agent = parts.agent
        assert agent.session is not None
        assert (agent.session.id, agent.session.number) == (row.session_id, 1)
        assert agent.session.transcript == row.transcript
        assert (agent.record.pid, agent.record.worktree) == (row.pid, None)
        (told,) = parts.dependencies.store.events(0, 100)
        assert "its earlier sessions are unknown" in told.text
        assert not await regained(parts)


async def test_who_was_started_without_a_file_is_found_again_and_only_observed(
    cockpit: Cockpit,
) -> None:
    cockpit.configure(cockpit.agent(mode="observe"))
    where = str(cockpit.repository)
    async with cockpit.flying():
        await cockpit.ask(
            Start(name="web", directory=where, prompt="Count the steps.", mode="auto")
        )
        first = await cockpit.until(lambda row: row.activity, "web")
    lose(cockpit)
    async with cockpit.flying() as supervisor:
        row = await cockpit.row("web")
        assert (row.pid, row.session_id) == (first.pid, first.session_id)
        assert (row.mode, row.directory) == ("observe", where)
        assert "only observes it" in str(row.note)
        assert f"cockpit start web --mode prompt --resume {first.session_id}" in str(row.note)
        (told,) = await cockpit.events("agent.regained")
        assert told.agent == "web"
        refused = await cockpit.refused(Start(name="web", directory=where))
        assert isinstance(refused, NotNow)
        await cockpit.ask(Stop(name="web"))
        assert supervisor.fleet.agent("web").alive is False
    async with cockpit.flying():
        assert "stopped by you" in str((await cockpit.row("web")).note)


async def test_a_process_of_ours_under_a_strange_name_is_told_of_with_what_to_do(
    cockpit: Cockpit,
) -> None:
    cockpit.configure(cockpit.agent())
    async with parts_of(cockpit) as parts:
        strange = await parts.sleeper("web", COCKPIT_RUN="other-1")
        nobody = await parts.sleeper("db")
        await until(lambda: parts.dependencies.processes.origin(strange.pid))
        panes = (await parts.panes()).values()
        assert adopt_unknown(parts.dependencies, parts.fleet, panes) == []
        (told,) = parts.dependencies.store.events(0, 100)
        assert (told.kind, told.data["pid"]) == ("agent.unowned", strange.pid)
        assert told.text.endswith(f"kill {strange.pid}")
        for pane in (strange, nobody):
            os.kill(pane.pid, signal.SIGKILL)


async def test_an_agent_that_does_not_say_its_session_is_watched_without_a_record(
    cockpit: Cockpit,
) -> None:
    row = await flown(cockpit, faults="absent")
    lose(cockpit)
    async with parts_of(cockpit) as parts:
        assert await regained(parts)
        assert parts.agent.session is not None
        assert parts.agent.session.id != row.session_id
        assert parts.agent.session.transcript is None
        assert parts.agent.alive


async def test_a_chain_that_its_documents_told_of_goes_on(cockpit: Cockpit) -> None:
    row = await flown(cockpit)
    assert row.session_id is not None
    lose(cockpit)
    async with parts_of(cockpit) as parts:
        api, job = AgentName("api"), JobId("j")
        store = parts.dependencies.store
        store.add_job(JobRecord(job, api, "Count.", 1.0))
        for number, name in ((1, "before"), (2, row.session_id)):
            store.save_session(
                SessionRecord(
                    id=SessionId(name),
                    agent=api,
                    job=job,
                    number=number,
                    previous=SessionId("before") if number == 2 else None,
                    run="",
                    created=float(number),
                    permission_mode="",
                    state="ended",
                )
            )
        # It works elsewhere than its file says, as in a worktree.
        parts.agent.change(directory=str(cockpit.home))
        assert await regained(parts)
        assert parts.agent.session is not None
        assert (parts.agent.session.number, parts.agent.session.state) == (2, "live")
        assert [each.number for each in parts.agent.chain] == [1, 2]
        assert parts.agent.record.worktree == str(cockpit.repository)
        told = store.events(0, 100)[-1]
        assert "its documents show 2 sessions" in told.text
