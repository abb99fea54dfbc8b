"""A long history comes in pages, and holds up nobody while it is put together."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cockpit.core.errors import BadUsage
from cockpit.core.handoff.details import HandoffDetails
from cockpit.core.ids import AgentName, HandoffId, JobId, SessionId
from cockpit.ports.records import HandoffRecord, JobRecord, SessionRecord
from cockpit.tui.present.history import Entry, entries
from cockpit.wire.history import to_json
from cockpit.wire.verbs import Handoff
from tests.long_cases import cases

if TYPE_CHECKING:
    from cockpit.adapters.store.store import Store
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux

JOBS, SESSIONS = 60, 20


def fill(store: Store) -> None:
    """Jobs of one agent, each with a chain of sessions."""
    agent = AgentName("api")
    with store.transaction():
        for number in range(JOBS):
            job = JobId(f"job-{number:03}")
            store.add_job(JobRecord(job, agent, f"Job {number}", float(number)))
            for place in range(SESSIONS):
                ident = SessionId(f"{job}-{place}")
                store.save_session(
                    SessionRecord(ident, agent, job, place + 1, None, "run", 1.0, ended=2.0)
                )
                store.save_handoff(
                    HandoffRecord(
                        HandoffId(f"h-{ident}"), agent, job, ident, "threshold", 1.0, "boot", {},
                        HandoffDetails(), ended=2.0, outcome="done", document=f"/d/{ident}.md",
                    )
                )  # fmt: skip


SESSION = (
    "id cli_id number runtime state document documents handoffs handoff writer outcome answered_by "
    "cost_usd tokens "
    "compactions began_with started_at ended_at transcript machine"
)
HANDOFF = (
    "id reason created ended outcome answered_by undone new_session_number why document copy "
    "writer tokens tokens_before tokens_after document_bytes"
)
JOB = "agent job goal started_at"
WHOLE = f"{JOB} handoffs rebuilt sessions"
WHOLE_SESSION = f"{SESSION} tokens_at_start rebuilt"
KEYS = {
    "/v1/history": (WHOLE, WHOLE_SESSION, HANDOFF),
    "/v1/history?limit=5": (WHOLE, WHOLE_SESSION, HANDOFF),
    "/v1/history?handoffs=5": (f"{JOB} sessions", SESSION, HANDOFF),
    "/v1/history?search=count": (f"{WHOLE} statements", WHOLE_SESSION, f"{HANDOFF} found"),
}
"""What is asked for -> the keys of a chain, a session and a handoff, in order."""


async def asked(socket: Path, target: str) -> Any:
    reader, writer = await asyncio.open_unix_connection(str(socket))
    writer.write(f"GET {target} HTTP/1.0\r\nHost: x\r\n\r\n".encode())
    await writer.drain()
    answer = await reader.read()
    writer.close()
    return json.loads(answer.partition(b"\r\n\r\n")[2])


async def test_pages_give_every_job_once_and_together_what_the_whole_gives(
    cockpit: Cockpit,
) -> None:
    async with cockpit.flying(cockpit.agent()) as supervisor:
        assert await asked(cockpit.places.socket, "/v1/history") == []
        fill(supervisor.dependencies.store)
        whole = await asked(cockpit.places.socket, "/v1/history?name=api")
        assert [len(chain["sessions"]) for chain in whole] == [SESSIONS] * JOBS
        assert [to_json(one) for one in await cockpit.client.history("api")] == whole
        pages: list[dict[str, Any]] = []
        target = "/v1/history?limit=25"
        more: str | None = ""
        while more is not None:
            page = await asked(cockpit.places.socket, target + (more and f"&before={more}"))
            assert len(page["chains"]) <= 25
            pages, more = [*page["chains"], *pages], page["next"]
        assert pages == whole
        refused = await asked(cockpit.places.socket, "/v1/history?limit=5&before=none")
        assert refused["exit_code"] == 2


@pytest.mark.parametrize(
    "target", cases("/v1/history", long=[each for each in KEYS if each != "/v1/history"])
)
async def test_a_history_keeps_its_keys(cockpit: Cockpit, target: str) -> None:
    async with cockpit.flying(cockpit.agent(mode="prompt", steps=9, pause=2, step_tokens=100)):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        await cockpit.ask(Handoff(name="api", now=True))
        await cockpit.until(lambda row: row.needs and row.needs.kind == "review")
        found = await asked(cockpit.places.socket, target)
        (chain,) = found if isinstance(found, list) else found["chains"]
        session = chain["sessions"][0]
        told = [list(each) for each in (chain, session, session["handoffs"][0])]
        assert told == [keys.split() for keys in KEYS[target]]
        assert list(session["documents"][0]) == ["id", "path", "outcome", "writer", "answered_by"]


@pytest.mark.long
async def test_pages_of_handoffs_are_newest_first_even_within_one_job(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent()) as supervisor:
        fill(supervisor.dependencies.store)
        whole = entries(await cockpit.client.history())
        assert len(whole) == JOBS * SESSIONS
        found: list[Entry] = []
        page = await cockpit.client.history_page(500)
        found += entries(page.chains)
        assert page.total == JOBS * SESSIONS
        while page.next is not None:
            page = await cockpit.client.history_page(500, page.next, "api")
            assert len(entries(page.chains)) <= 500
            found += entries(page.chains)
        assert found == whole
        with pytest.raises(BadUsage):
            await cockpit.client.history_page(5, "none")


async def test_others_are_served_between_two_jobs(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent()) as supervisor:
        fill(supervisor.dependencies.store)
        turns = 0

        async def others() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        beside = asyncio.create_task(others())
        jobs = supervisor.history.jobs_of(None)
        found = [chain async for chain in supervisor.history.chains(jobs)]
        beside.cancel()
        assert len(found) == JOBS
        assert turns >= JOBS
