"""`cockpit start`: start an agent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from cockpit.core.errors import CockpitError
from cockpit.core.ids import AgentName, agent_name
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.commit_note import commit_note
from cockpit.supervisor.sessions.neighbours import Neighbours
from cockpit.supervisor.sessions.plan import neighbours_text
from cockpit.supervisor.sessions.refusals import (
    refuse_if_alive,
    refuse_if_handing_off,
    refuse_if_moved,
)
from cockpit.supervisor.sessions.reopen import session_named
from cockpit.supervisor.sessions.start import Starter
from cockpit.supervisor.sessions.waiting_document import offer_text, waiting_document
from cockpit.wire.verbs import (
    Done,
    Start,
)


class StartHandler:
    """Starts an agent or reopens its session (`Start`). Holds the agent's lock."""

    def __init__(
        self,
        *,
        dependencies: Dependencies,
        fleet: Fleet,
        starter: Starter,
        neighbours: Neighbours,
        changed: Callable[[Agent], None],
        forgotten: Callable[[AgentName], None],
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._starter = starter
        self._neighbours = neighbours
        self._changed = changed
        self._forgotten = forgotten

    async def __call__(self, asked: Start) -> Done:
        """Start a configured agent or a new one; with `resume`, reopen a session."""
        name = agent_name(asked.name)
        apart = None
        if asked.config and asked.apart:
            apart = await self._fleet.read_apart(Path(asked.config), name, named=asked.named)
        elif asked.config:
            await self._fleet.reload(Path(asked.config), named=asked.named)
        else:
            await self._fleet.reload_changed()
        agent = self._fleet.find(name)
        if agent is not None:
            refuse_if_alive(agent)
            refuse_if_handing_off(agent)
        if asked.resume and not asked.force:
            self._refuse_if_moved(name, agent, asked.resume)
        agent = self._starter.agent_for(name, asked, loaded=apart)
        try:
            await self._starter.start(agent, asked.prompt, resume=asked.resume)
        except (CockpitError, OSError):
            self._forget_if_unknown(agent)
            raise
        self._changed(agent)
        if agent.start.setup:
            message = f"{name} will start when its worktree is set up: {agent.record.worktree}"
            return Done(message=message, name=name)
        waiting = await waiting_document(self._dependencies, agent.directory, agent.settings)
        others = [other.name for other in await self._neighbours.of(agent)]
        warning = f"; {neighbours_text(others)}" if others else ""
        in_git = agent.record.branch is not None
        if in_git and (note := commit_note(self._dependencies, agent.settings)):
            warning += f"; {note}"
        if waiting is not None and not asked.resume:
            warning += f"; {offer_text(waiting)}"
        return Done(
            message=f"Started {name} in {agent.directory}{warning}",
            name=name,
            pane=agent.record.pane,
        )

    def _refuse_if_moved(self, name: AgentName, agent: Agent | None, resume: str) -> None:
        """Raise `NotNow` if the job of the session to reopen continues on another machine.

        The session may belong to another agent, or to one that was forgotten.
        """
        named = session_named(agent, resume) if agent is not None else resume
        session = self._dependencies.store.session(named)
        if session is not None:
            known = self._fleet.find(session.agent) is not None
            refuse_if_moved(self._dependencies, session, session.agent if known else name)

    def _forget_if_unknown(self, agent: Agent) -> None:
        """Remove an agent whose start failed, if it has no config entry and was never started."""
        if agent.record.config_file is None and agent.record.session is None:
            self._fleet.forget(agent)
            self._forgotten(agent.name)
