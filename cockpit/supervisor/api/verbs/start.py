"""`cockpit start`: start an agent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from cockpit.core.errors import CockpitError
from cockpit.core.ids import AgentName, agent_name
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.sessions.lifecycle import (
    refuse_if_alive,
    refuse_if_handing_off,
)
from cockpit.supervisor.sessions.plan import company_words
from cockpit.supervisor.sessions.start import Starter
from cockpit.wire.verbs import (
    Done,
    Start,
)


class Starting:
    """Performs `Start`, under the lock of the agent."""

    def __init__(
        self,
        *,
        fleet: Fleet,
        starter: Starter,
        changed: Callable[[Agent], None],
        forgotten: Callable[[AgentName], None],
    ) -> None:
        self._fleet = fleet
        self._starter = starter
        self._changed = changed
        self._forgotten = forgotten

    async def __call__(self, asked: Start) -> Done:
        """Start a configured agent, or a new one."""
        name = agent_name(asked.name)
        if asked.config:
            await self._fleet.reload(Path(asked.config), named=asked.named)
        agent = self._fleet.find(name)
        if agent is not None:
            refuse_if_alive(agent)
            refuse_if_handing_off(agent)
        agent = self._starter.agent_for(name, asked)
        try:
            await self._starter.start(agent, asked.prompt, resume=asked.resume)
        except (CockpitError, OSError):
            self._forget_if_unknown(agent)
            raise
        self._changed(agent)
        if agent.start.setup:
            words = f"{name} starts when its worktree is set up: {agent.record.worktree}"
            return Done(message=words, name=name)
        beside = [other.name for other in self._starter.neighbours(agent)]
        words = f"; {company_words(beside)}" if beside else ""
        return Done(
            message=f"Started {name} in {agent.directory}{words}", name=name, pane=agent.record.pane
        )

    def _forget_if_unknown(self, agent: Agent) -> None:
        """A start that failed leaves no row of an agent that no file names and that never flew."""
        if agent.record.config_file is None and agent.record.session is None:
            self._fleet.forget(agent)
            self._forgotten(agent.name)
