"""Two worlds in which the same things can be made to happen: one in memory, one real.

In both are `api`, whose pane shows what was typed, and `cron`, which was never started. What
`test_contract.py` needs besides a client is here: what changes, goes away and comes back.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any, Protocol

from cockpit.client.client import Supervisor
from cockpit.client.http import HttpClient
from cockpit.core.events import Plain
from cockpit.core.handoff.details import HandoffDetails
from cockpit.core.ids import AgentName, HandoffId, JobId, SessionId
from cockpit.ports.records import HandoffRecord, JobRecord, SessionRecord
from cockpit.supervisor.supervisor import Supervisor as RealSupervisor
from cockpit.wire.history import HistoryChain
from cockpit.wire.status import AgentStatus, Status
from cockpit.wire.verbs import Load, Stop
from tests.client.memory import MemoryClient
from tests.supervisor.conftest import Cockpit

SLEEPER = 'runtime = "command"\ncommand = ["sh", "-c", "echo first words; exec cat"]\n'
HISTORY = (("job-1", "h-1", 100.0), ("job-1", "h-2", 300.0), ("job-2", "h-3", 200.0))
"""Jobs of `api` with the ids of their handoffs, and when each was created, in unix seconds."""
PAPERS = {"h-1": "The token of Auth\n", "h-2": "Nothing of it.\n", "h-3": "auth, without it\n"}
"""The documents of those handoffs, below their front matter."""


class Stage(Protocol):
    """A client's world."""

    @property
    def client(self) -> Supervisor:
        """It answers whenever the supervisor is there."""

    async def happen(self, text: str) -> None:
        """Record an event about `api`."""

    async def change(self) -> None:
        """Change the mode of `cron` to the other of `auto` and `prompt`."""

    async def touch(self) -> None:
        """Set of `cron` what is set already."""

    async def forget(self) -> None:
        """Remove `cron`."""

    async def print(self, text: str) -> None:
        """Let the pane of `api` show a text."""

    async def close_pane(self) -> None:
        """End `api` with its pane."""

    async def remember(self) -> None:
        """Fill the history with `HISTORY` and `PAPERS`."""

    async def go_away(self) -> None:
        """End the supervisor."""

    async def come_back(self) -> None:
        """Start the supervisor again."""

    async def leave(self) -> None:
        """End everything."""


class InMemory:
    """The world of a `MemoryClient`."""

    def __init__(self) -> None:
        usual: dict[str, Any] = {
            "runtime": "command",
            "directory": "/w",
            "strategy": "handoff",
            "max_handoffs": 3,
        }
        api = AgentStatus(name="api", state="working", mode="observe", pane="%1", **usual)
        cron = AgentStatus(name="cron", state="stopped", mode="prompt", **usual)
        self.client = self.memory = MemoryClient(Status(agents=[api, cron]))
        self.memory.show("api", ["first words"])

    async def happen(self, text: str) -> None:
        self.memory.happen("agent.found", text, "api")

    async def change(self) -> None:
        mode = "auto" if self.memory.agent("cron").mode == "prompt" else "prompt"
        self.memory.change("cron", mode=mode)

    async def touch(self) -> None:
        self.memory.put(self.memory.agent("cron"))

    async def forget(self) -> None:
        self.memory.forget("cron")

    async def print(self, text: str) -> None:
        self.memory.show("api", ["first words", text])

    async def close_pane(self) -> None:
        self.memory.change("api", pane=None, state="stopped")

    async def remember(self) -> None:
        chains: dict[str, dict[str, Any]] = {}
        for job, ident, created in HISTORY:
            handoff = {"id": ident, "created": f"at {created:05}", "outcome": "done"}
            usual = {"agent": "api", "job": job, "handoffs": 0, "rebuilt": False, "sessions": []}
            chain = chains.setdefault(job, usual)
            chain["handoffs"] += 1
            chain["sessions"].append(
                {"id": f"s-{ident}", "number": 1, "documents": [{"id": ident}],
                 "handoffs": [handoff]}
            )  # fmt: skip
        self.memory.remember(list(map(HistoryChain.model_validate, chains.values())))
        for ident, text in PAPERS.items():
            self.memory.lay(ident, f"---\nagent: api\n---\n{text}")

    async def go_away(self) -> None:
        self.memory.disconnect()

    async def come_back(self) -> None:
        self.memory.reconnect()

    async def leave(self) -> None:
        """Nothing is left."""


class OverHttp:
    """A real supervisor in this process, reached through its socket."""

    def __init__(self, cockpit: Cockpit) -> None:
        self.cockpit = cockpit
        self.client: HttpClient = cockpit.client
        self._held = AsyncExitStack()
        self._mode = "prompt"

    @property
    def supervisor(self) -> RealSupervisor:
        assert self.cockpit.supervisor is not None
        return self.cockpit.supervisor

    def _configure(self) -> None:
        tables = (("api", "observe"), ("cron", self._mode))
        self.cockpit.configure(
            *(self.cockpit.agent(name, mode, more=SLEEPER) for name, mode in tables),
        )

    async def enter(self) -> None:
        self._configure()
        await self.come_back()
        await self.cockpit.start()
        await self.cockpit.until(lambda row: row.pane)

    async def happen(self, text: str) -> None:
        self.supervisor.event_log.record(Plain("agent.found"), text, "api")

    async def change(self) -> None:
        self._mode = "auto" if self._mode == "prompt" else "prompt"
        self._configure()
        await self.touch()

    async def touch(self) -> None:
        await self.client.ask(Load(config=str(self.cockpit.config), named=True))

    async def forget(self) -> None:
        fleet = self.supervisor.fleet
        fleet.forget(fleet.agent("cron"))
        self.supervisor.publisher.forgotten("cron")

    async def print(self, text: str) -> None:
        row = await self.cockpit.row()
        assert row.pane is not None
        self.cockpit.tmux("send-keys", "-t", row.pane, "-l", text)

    async def close_pane(self) -> None:
        row = await self.cockpit.row()
        assert row.pane is not None
        await self.client.ask(Stop(name="api"))
        self.cockpit.tmux("kill-pane", "-t", row.pane)

    async def remember(self) -> None:
        agent, store = AgentName("api"), self.supervisor.dependencies.store
        folder = self.cockpit.home / "papers"
        folder.mkdir()
        with store.transaction():
            jobs: set[str] = set()
            for number, (job, ident, created) in enumerate(HISTORY, 1):
                if job not in jobs:
                    jobs.add(job)
                    store.add_job(JobRecord(JobId(job), agent, f"Job {job}", created))
                session = SessionId(f"s-{ident}")
                store.save_session(
                    SessionRecord(session, agent, JobId(job), number, None, "r", 1.0, ended=2.0)
                )
                paper = folder / f"{ident}.md"
                paper.write_text(f"---\nagent: api\n---\n{PAPERS[ident]}")
                handoff = HandoffRecord(
                    HandoffId(ident), agent, JobId(job), session, "threshold", created, "boot",
                    {}, HandoffDetails(), ended=created, outcome="done",
                )  # fmt: skip
                sha256 = hashlib.sha256(paper.read_bytes()).hexdigest()
                store.save_handoff(replace(handoff, document=str(paper), sha256=sha256))

    async def go_away(self) -> None:
        await self._held.aclose()

    async def come_back(self) -> None:
        self._held = AsyncExitStack()
        await self._held.enter_async_context(self.cockpit.flying())

    async def leave(self) -> None:
        await self._held.aclose()


async def set_up(stage: InMemory | OverHttp) -> AsyncIterator[Stage]:
    """The stage, from before a test to its end."""
    if isinstance(stage, OverHttp):
        await stage.enter()
    try:
        yield stage
    finally:
        await stage.leave()
