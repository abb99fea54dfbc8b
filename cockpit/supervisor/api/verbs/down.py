"""`cockpit down`: end the supervisor; with `--agents`, end the agents too."""

from __future__ import annotations

import asyncio

from cockpit.core.errors import CockpitError, Failed, OsProblem
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.agents.locks import AgentLocks
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.handoff.engine import Engine
from cockpit.supervisor.lifetime import Lifetime
from cockpit.supervisor.sessions.setup import WorktreeSetup
from cockpit.supervisor.sessions.stop import Stopper, handoff_not_cancelled
from cockpit.wire.verbs import (
    Done,
    Down,
)


class DownHandler:
    """Stops the supervisor, and the agents if the request says so (`Down`)."""

    def __init__(
        self,
        *,
        dependencies: Dependencies,
        fleet: Fleet,
        engine: Engine,
        locks: AgentLocks,
        setup: WorktreeSetup,
        stopper: Stopper,
        life: Lifetime,
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._engine = engine
        self._locks = locks
        self._setup = setup
        self._stopper = stopper
        self._life = life

    async def __call__(self, asked: Down) -> Done:
        """End the supervisor; with `agents`, first the agents and their tmux server.

        Raises `Failed`, and keeps running, if an agent could not be ended.
        """
        self._life.ending = True
        if asked.agents:
            try:
                unwritten = await self._end_all()
            except BaseException:
                self._life.ending = False
                raise
            await self._dependencies.panes.stop_server()
            message = f"Stopped the agents and the supervisor{unwritten}"
        else:
            alive = sum(agent.alive for agent in self._fleet)
            running = "1 agent keeps running" if alive == 1 else f"{alive} agents keep running"
            message = f"Stopped the supervisor; {running}"
        self._life.ended.set()
        return Done(message=message)

    async def _end_all(self) -> str:
        """End every agent. Return a warning if the stops could not be saved; empty if saved."""

        async def end_one(agent: Agent) -> str:
            async with self._locks.hold(agent.name, "being stopped"):
                return await end_it(agent)

        async def end_it(agent: Agent) -> str:
            await self._setup.cancel(agent)
            # First, because a handoff would start a new session for an ended agent.
            try:
                await self._engine.abandon(agent, "cockpit down --agents")
            except OsProblem as full:
                raise handoff_not_cancelled(agent, full) from full
            if not agent.alive and (agent.exit is not None or not agent.record.wanted):
                # The agent was never started, or ended earlier, so it is not stopped now.
                await self._stopper.end_processes(agent)
                return ""
            return await self._stopper.end_for_user(agent)

        ended = await asyncio.gather(
            *(end_one(agent) for agent in self._fleet), return_exceptions=True
        )
        for wrong in ended:
            if isinstance(wrong, BaseException) and not isinstance(wrong, CockpitError):
                raise wrong
        if left := [str(wrong) for wrong in ended if isinstance(wrong, CockpitError)]:
            raise Failed(
                "Not all agents could be stopped; the supervisor keeps running",
                "\n".join(left),
                "See which agents: cockpit status. Then try again: cockpit down --agents",
            )
        if any(ended):
            return ". cockpit could not save that the agents were stopped: the disk is not writable"
        return ""
