"""An agent whose supervisor has gone: the parts that look for it again, each by itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cockpit.core.ids import PaneId
from cockpit.ports.panes import Launch, Pane
from cockpit.ports.processes import ProcessId
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.main import dependencies
from cockpit.supervisor.sessions.lifecycle import Sessions
from cockpit.supervisor.sessions.reattach import find_process
from cockpit.wire.status import AgentStatus
from tests.supervisor.sessions_alone import sessions_alone

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

PATIENCE = 120.0


@dataclass(slots=True)
class Parts:
    """What a supervisor would have at its start, without the supervisor."""

    dependencies: Dependencies
    sessions: Sessions
    fleet: Fleet
    cockpit: Cockpit

    @property
    def agent(self) -> Agent:
        return self.fleet.agent("api")

    async def panes(self) -> dict[str, Pane]:
        return {str(key): pane for key, pane in (await self.dependencies.panes.look()).items()}

    async def find(self) -> bool:
        return await find_process(self.dependencies, self.sessions, self.agent, await self.panes())

    async def sleeper(self, label: str = "api", **environment: str) -> Pane:
        """A process in a pane of this label that is no agent."""
        argv = ("/bin/sleep", "600")
        env = {**self.sessions.orders.environment(self.agent), **environment}
        launch = Launch(argv, self.cockpit.repository, env)
        await self.dependencies.panes.start_server()
        return await self.dependencies.panes.open(label, launch)


@asynccontextmanager
async def parts_of(cockpit: Cockpit) -> AsyncIterator[Parts]:
    """The parts over what is on disk; the configured agents are agents."""
    cockpit.places.make()
    held = dependencies(cockpit.places)
    fleet = Fleet(held)
    fleet.remember()
    fleet.load(cockpit.config, named=True)
    sessions = sessions_alone(held, lambda: fleet, has_ended)
    try:
        yield Parts(held, sessions, fleet, cockpit)
    finally:
        for agent in fleet:
            sessions.unwatch(agent)
        held.store.close()


def has_ended(agent: Agent, process: ProcessId | None) -> None:
    if agent.process == process:
        agent.process = None


async def flown(cockpit: Cockpit, **agent: object) -> AgentStatus:
    """Start the one agent, let its first turn begin, and take the supervisor away."""
    table = cockpit.agent(mode="observe", **{"steps": 3, **agent})  # type: ignore[arg-type]
    async with cockpit.flying(table):
        await cockpit.start()
        return await cockpit.until(lambda row: row.state in {"working", "idle", "done"})


async def until(true: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "it never came true"
        await asyncio.sleep(0.02)


def elsewhere(pane: Pane) -> PaneId:
    """A pane that is none."""
    return PaneId(f"%{int(pane.id[1:]) + 90}")
