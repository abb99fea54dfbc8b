"""Reopening an agent's own session: it keeps its job, its number and everything counted for it.

For `start NAME --resume ID`, an undo and a restart of the machine. Starts and ends nothing.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cockpit.core.errors import NotNow
from cockpit.core.handoff.states import Outcome
from cockpit.core.ids import JobId, SessionId
from cockpit.core.permission import successors_mode
from cockpit.ports.records import SessionRecord
from cockpit.ports.worktrees import Worktree
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.lifecycle import Sessions
from cockpit.supervisor.sessions.location import tell_ready

LAST = "last"
"""In place of a session's id: the session that the agent had last."""


def session_named(agent: Agent, named: str) -> SessionId:
    """The session that `--resume` names. Raises `NotNow` where the agent never had one."""
    if named != LAST:
        return SessionId(named)
    if agent.record.session is None:
        raise NotNow(
            f"{agent.name} has no session to reopen",
            "It was never started.",
            f"Start it: cockpit start {agent.name}",
        )
    return agent.record.session


class Reopening:
    """What reopening a session asks for, for every way there is to do so."""

    def __init__(
        self,
        dependencies: Dependencies,
        fleet: Fleet,
        sessions: Sessions,
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._sessions = sessions

    def own_session(self, agent: Agent, ident: SessionId) -> SessionRecord | None:
        """The session's record if this agent had it; None if no agent had.

        Raises `NotNow` for a session of another agent: it would be taken out of its job.
        """
        held = self._dependencies.store.session(ident)
        if held is None or held.agent == agent.name:
            return held
        if self._fleet.find(held.agent) is None:
            return None
        raise NotNow(
            f"Session {ident} belongs to {held.agent}",
            f"It is session {held.number} of that agent's job.",
            f"Reopen it there: cockpit start {held.agent} --resume {ident}",
        )

    def reopened(self, agent: Agent, before: SessionRecord) -> SessionRecord:
        """The session as it will be: a new marker, and no wider a permission mode than last seen.

        The modes that you chose in the session, and in the one that runs now, count where they are
        narrower than the one it was started with.
        """
        _, run = self._sessions.mint(agent)
        mode = before.permission_mode or agent.settings.permission_mode
        for handoff in self._dependencies.store.handoffs(before.job):
            if handoff.old_session == before.id:
                mode = successors_mode(mode, handoff.details.permission_mode)
        mode = successors_mode(mode, agent.session_state.permission_mode)
        return replace(before, run=run, state="live", permission_mode=mode, ended=None)

    def swaps_done(self, job: JobId) -> int:
        """How often this job was handed off."""
        done = self._dependencies.store.handoffs(job)
        return sum(each.outcome == Outcome.DONE.value for each in done)

    async def worktree_again(self, agent: Agent) -> Worktree | None:
        """Create the worktree of the agent's job again if its folder is missing; else None.

        Raises what `Worktrees.ensure` raises, such as `NotNow` where the branch is taken.
        """
        record, worktrees = agent.record, self._dependencies.worktrees
        if not record.worktree or not record.branch or is_there(record.worktree):
            return None
        home = await worktrees.home(agent.settings.directory)
        if home is None or record.job is None:
            return None
        made = await worktrees.ensure(
            home.root, Path(record.worktree), record.branch, "", agent=agent.name, job=record.job
        )
        tell_ready(
            self._dependencies.event_log,
            agent,
            made,
            f"was missing and was created again: {made.directory}",
        )
        return made


def is_there(directory: str) -> bool:
    """Whether the folder exists."""
    return Path(directory).is_dir()
