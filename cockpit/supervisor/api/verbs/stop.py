"""`cockpit stop`: end an agent."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from cockpit.core.errors import OsProblem
from cockpit.core.events import Plain
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.api.verbs.cancel import cancel_handoff
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.handoff.engine import Engine
from cockpit.supervisor.sessions.setup import WorktreeSetup
from cockpit.supervisor.sessions.stop import Stopper, handoff_not_cancelled
from cockpit.wire.verbs import (
    Done,
    Stop,
)


class StopHandler:
    """Ends an agent's process (`Stop`). Holds the agent's lock."""

    def __init__(
        self,
        *,
        dependencies: Dependencies,
        fleet: Fleet,
        engine: Engine,
        setup: WorktreeSetup,
        stopper: Stopper,
        changed: Callable[[Agent], None],
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._engine = engine
        self._setup = setup
        self._stopper = stopper
        self._changed = changed

    async def __call__(self, asked: Stop) -> Done:
        """End an agent. Keeps its worktree and all its files."""
        agent = self._fleet.agent(asked.name)
        if await self._setup.cancel(agent):
            message = f"The start of {agent.name} was cancelled; its worktree is kept"
            self._dependencies.event_log.record(Plain("agent.not_started"), message, agent.name)
            return Done(message=message, name=agent.name)
        try:
            await cancel_handoff(self._engine, agent)
        except OsProblem as full:
            raise handoff_not_cancelled(agent, full) from full
        if agent.gave_up:
            agent.change(gave_up=None)
            with suppress(OsProblem):  # if unsaved, a restart shows the message again
                self._dependencies.store.save_agent(agent.record)
            self._changed(agent)
        if agent.record.session is None or (not agent.alive and not agent.record.wanted):
            return Done(message=f"{agent.name} was not running", name=agent.name)
        unwritten = await self._stopper.end_for_user(agent)
        if not unwritten:
            self._stopper.record_stop(agent)
        self._changed(agent)
        worktree = agent.record.worktree
        kept = f"; its worktree is kept ({worktree})" if worktree else ""
        message = f"Stopped {agent.name}{kept}{unwritten}"
        return Done(message=message, name=agent.name)
