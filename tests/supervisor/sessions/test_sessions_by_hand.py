"""The user leaves a session for another one in the same process: `/clear`, `/resume`."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from cockpit.adapters.store.store import Store
from cockpit.ports.records import SessionRecord
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Start, Stop, Undo

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


def type_in(cockpit: Cockpit, row: AgentStatus, text: str) -> None:
    assert row.pane is not None
    cockpit.tmux("send-keys", "-t", row.pane, "-l", text)
    cockpit.tmux("send-keys", "-t", row.pane, "Enter")


def sessions(cockpit: Cockpit, agent: str) -> list[SessionRecord]:
    """The sessions of the agent's job, in order."""
    with closing(Store(cockpit.places.database).open()) as store:
        (job,) = store.jobs(agent)
        return store.chain(job.id)


def forge(cockpit: Cockpit, agent: str, **payload: str) -> None:
    """Report a hook of this agent, as any program of its user can."""
    told = json.dumps({"hook_event_name": "SessionStart", "source": "resume", **payload})
    reporter = cockpit.places.state / "reporter.sh"
    subprocess.run(
        [reporter, cockpit.places.state, agent, "SessionStart"], input=told.encode(), check=True
    )


async def test_an_earlier_session_of_the_job_keeps_its_place_in_it(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="observe", steps=9, pause=3, step_tokens=100)):
        first = await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        type_in(cockpit, first, "/clear")
        second = await cockpit.until(lambda row: row.session_id != first.session_id)
        (before, left) = sessions(cockpit, "api")
        await cockpit.until(lambda row: row.state == "idle")
        type_in(cockpit, second, f"/resume {first.session_id}")
        third = await cockpit.until(lambda row: row.session_number == 3)
        assert third.session_id not in {first.session_id, second.session_id}
        (again, _, new) = sessions(cockpit, "api")
        assert again == before
        assert (new.cli_id, new.previous) == (first.session_id, left.id)
        assert (new.transcript, new.state) == (before.transcript, "live")
        told = (await cockpit.event("session.cleared", number=2)).text
        assert told == (
            "Session 1 of api was reopened in api's pane; it is now session 3 of api's job"
        )
        # What its process reports from now on is heard as that session's.
        type_in(cockpit, third, "Go on.")
        await cockpit.until(lambda row: row.session_number == 3 and row.context.tokens is not None)
        await cockpit.ask(Stop(name="api"))
        reopened = await cockpit.start(resume="last")
        assert reopened.session_id == third.session_id


@pytest.mark.parametrize("runs", [True, False], ids=["running", "stopped"])
async def test_another_agents_session_stays_in_that_agents_job(
    cockpit: Cockpit, runs: bool
) -> None:
    tables = (
        cockpit.agent("api", mode="observe", steps=9, pause=3, step_tokens=100),
        cockpit.agent(
            "web",
            mode="observe",
            steps=9,
            pause=3,
            step_tokens=100,
            more='permission_mode = "plan"',
        ),
    )
    async with cockpit.flying(*tables):
        api, web = await cockpit.start("api"), await cockpit.start("web")
        for name in ("api", "web"):
            await cockpit.until(lambda row: row.state == "idle", name)
        if not runs:
            await cockpit.ask(Stop(name="web"))
        (before,) = sessions(cockpit, "web")
        type_in(cockpit, api, f"/resume {web.session_id}")
        row = await cockpit.until(lambda row: row.session_number == 2)
        assert sessions(cockpit, "web") == [before]
        (first, second) = sessions(cockpit, "api")
        assert (second.cli_id, second.previous) == (web.session_id, first.id)
        assert second.permission_mode == first.permission_mode != before.permission_mode
        assert ("opened web's session" in (row.note or "")) is runs
        told = (await cockpit.event("session.cleared")).text
        assert told == (
            "Session 1 of web was reopened in api's pane; it is now session 2 of api's job"
        )
    async with cockpit.flying():
        again = await cockpit.row()
        assert (again.session_id, again.session_number) == (row.session_id, 2)
        assert [session.id for session in sessions(cockpit, "web")] == [before.id]
        assert len(await cockpit.events("session.cleared")) == 1


async def test_another_agents_session_is_refused_with_a_step_that_works_now(
    cockpit: Cockpit,
) -> None:
    async with cockpit.flying(cockpit.agent(mode="observe", steps=2, step_tokens=100)):
        first = await cockpit.start()
        asked = Start(name="web", directory=str(cockpit.repository), resume=first.session_id)
        assert (await cockpit.refused(asked)).hint == "Open the pane: cockpit attach api"
        await cockpit.until(lambda row: row.state in {"idle", "done"})
        await cockpit.ask(Stop(name="api"))
        reopen = f"cockpit start api --resume {first.session_id}"
        assert (await cockpit.refused(asked)).hint == f"Reopen the session: {reopen}"
        assert (await cockpit.start()).session_id != first.session_id
        assert (await cockpit.refused(asked)).hint == (
            f"Stop api first: cockpit stop api. Then reopen the session: {reopen}"
        )


async def test_a_lost_record_takes_no_session_from_another_agent(cockpit: Cockpit) -> None:
    tables = [
        cockpit.agent(name, mode="observe", steps=9, pause=3, step_tokens=100)
        for name in ("api", "web")
    ]
    async with cockpit.flying(*tables):
        api, web = await cockpit.start("api"), await cockpit.start("web")
        for name in ("api", "web"):
            await cockpit.until(lambda row: row.state == "idle", name)
        type_in(cockpit, api, f"/resume {web.session_id}")
        await cockpit.until(lambda row: row.session_number == 2)
        (before,) = sessions(cockpit, "web")
    with closing(Store(cockpit.places.database).open()) as store:
        store.run("delete from seats where name = 'api'")
        store.run("delete from sessions where agent = 'api'")
        store.run("delete from jobs where agent = 'api'")
    async with cockpit.flying():
        row = await cockpit.until(lambda row: row.pid is not None)
        assert (row.pid, row.session_number) == (api.pid, 1)
        assert row.session_id != web.session_id
        assert [session.id for session in sessions(cockpit, "web")] == [before.id]


@pytest.mark.parametrize(
    "payload",
    [
        {"session_id": "../../../elsewhere"},
        {"session_id": "a b\x1b[31m"},
        {"session_id": "x" * 200},
        {
            "session_id": "6f1e4c1e-3c5f-4a52-9d7e-0b8f5c1a2d3e",
            "transcript_path": "/etc/passwd",
        },
    ],
)
async def test_a_report_that_names_no_session_changes_none(
    cockpit: Cockpit, payload: dict[str, str]
) -> None:
    async with cockpit.flying(cockpit.agent(mode="observe", steps=9, pause=3, step_tokens=100)):
        first = await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        before = sessions(cockpit, "api")
        forge(cockpit, "api", **payload)
        while list((cockpit.places.spool / "api").glob("*.json")):
            await asyncio.sleep(0.02)
        assert (await cockpit.row()).session_id == first.session_id
        assert sessions(cockpit, "api") == before
        forge(cockpit, "api", session_id="6f1e4c1e-3c5f-4a52-9d7e-0b8f5c1a2d3e")
        await cockpit.until(lambda row: row.session_number == 2)


@pytest.mark.parametrize("named", ["last", ""])
async def test_a_session_is_not_reopened_in_another_cli(cockpit: Cockpit, named: str) -> None:
    async with cockpit.flying(cockpit.agent(mode="observe", steps=9, pause=3, step_tokens=100)):
        row = await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        await cockpit.ask(Stop(name="api"))
        resume = named or row.session_id
        refused = await cockpit.refused(Start(name="api", runtime="codex", resume=resume))
        assert refused.title == f"Session {row.session_id} ran in claude, not in codex"
        assert "cockpit handoff api --to codex" in refused.hint
        assert (await cockpit.row()).configured_runtime == "claude"
        again = await cockpit.start(runtime="claude", resume=resume)
        assert again.session_id == row.session_id


async def test_a_session_that_another_agent_has_open_is_not_opened_again(cockpit: Cockpit) -> None:
    tables = [
        cockpit.agent(name, mode="observe", steps=9, pause=3, step_tokens=100)
        for name in ("api", "web")
    ]
    async with cockpit.flying(*tables):
        api, web = await cockpit.start("api"), await cockpit.start("web")
        for name in ("api", "web"):
            await cockpit.until(lambda row: row.state == "idle", name)
        type_in(cockpit, api, "/clear")
        second = await cockpit.until(lambda row: row.session_number == 2)
        await cockpit.until(lambda row: row.state == "idle")
        type_in(cockpit, web, f"/resume {api.session_id}")
        await cockpit.until(lambda row: row.session_number == 2, "web")

        refused = await cockpit.refused(Undo(name="api"))
        assert refused.title == f"Session {api.session_id} is already open"
        row = await cockpit.row()
        assert (row.pid, row.session_id, row.state) == (api.pid, second.session_id, "idle")
        await cockpit.ask(Stop(name="api"))
        refused = await cockpit.refused(Start(name="api", resume=api.session_id))
        assert refused.title == f"Session {api.session_id} is already open"

        await cockpit.ask(Stop(name="web"))
        await cockpit.start(resume=api.session_id)
        assert (await cockpit.row()).session_id == api.session_id


OPENCODE = """#!/bin/sh
[ "$1" = --version ] && { echo 1.18.33; exit 0; }
exec sleep 300
"""


async def test_nor_by_a_cli_that_does_not_say_which_sessions_are_open(cockpit: Cockpit) -> None:
    stub = cockpit.home / "bin" / "opencode"
    stub.write_text(OPENCODE)
    stub.chmod(0o755)
    data = cockpit.home / "data" / "opencode"
    data.mkdir(parents=True)
    first, other = "ses_AAAAAAAAAAAAAAAA", "ses_BBBBBBBBBBBBBBBB"
    with closing(sqlite3.connect(data / "opencode.db")) as database, database:
        database.execute("create table session (id text, directory text)")
        rows = [(session, str(cockpit.repository)) for session in (first, other)]
        database.executemany("insert into session values (?, ?)", rows)
    tables = [
        f'[[agents]]\nname = "{name}"\nruntime = "opencode"\npermission_mode = "default"\n'
        f'mode = "observe"\ndirectory = "{cockpit.repository}"\n'
        for name in ("api", "web")
    ]
    async with cockpit.flying(*tables) as supervisor:

        async def has_open(name: str, session: str) -> None:
            agent = supervisor.fleet.agent(name)
            await cockpit.until(lambda _: agent.cli_session == session, name)

        await cockpit.start("api")
        forge(cockpit, "api", session_id=first, source="startup")
        await has_open("api", first)
        await cockpit.ask(Stop(name="api"))
        await cockpit.start("web")
        forge(cockpit, "web", session_id=other, source="startup")
        await has_open("web", other)
        forge(cockpit, "web", session_id=first)
        await has_open("web", first)
        refused = await cockpit.refused(Start(name="api", resume="last"))
        assert refused.detail.startswith("web has the session open")
        assert (await cockpit.row()).pid is None
