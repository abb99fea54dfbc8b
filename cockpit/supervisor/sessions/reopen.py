"""Prepare to reopen an agent's own session, which keeps its job, number and counts.

Used by `start NAME --resume ID`, by an undo and after a reboot. Starts nothing.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cockpit.core.errors import NotNow
from cockpit.core.handoff.states import CONFIRMED
from cockpit.core.ids import JobId, SessionId
from cockpit.ports.records import SessionRecord
from cockpit.ports.worktrees import Worktree
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.lifecycle import Sessions
from cockpit.supervisor.sessions.location import DIRECTORY_SECONDS, record_worktree_ready
from cockpit.supervisor.sessions.permission_modes import JobModes, merged, narrowed

LAST = "last"
"""Value of `--resume` that means the agent's last session."""


def session_named(agent: Agent, named: str) -> SessionId:
    """Return the session id for the value of `--resume`.

    Raises `NotNow` if the agent never had a session.
    """
    if named != LAST:
        return SessionId(named)
    if agent.record.session is None:
        raise NotNow(
            f"{agent.name} has no session to reopen",
            "The agent was never started.",
            f"Start the agent: cockpit start {agent.name}",
        )
    return agent.record.session


class Reopening:
    """Functions that all requests to reopen a session share."""

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
        """Return the record of a session of this agent; None if no known agent has this session.

        Raises `NotNow` for a session of another agent.
        """
        held = self._dependencies.store.session(ident)
        if held is None or held.agent == agent.name:
            return held
        owner = self._fleet.find(held.agent)
        if owner is None:
            return None
        raise NotNow(
            f"Session {ident} belongs to {owner.name}",
            f"This is session {held.number} of {owner.name}'s job.",
            _step_in_owner(owner, held.id),
        )

    def reopened(self, agent: Agent, before: SessionRecord) -> SessionRecord:
        """Return the session's record for reopening, with a new marker for the session's processes.

        The record's permission mode is the narrowest of three: the mode with which the session was
        started, the mode last chosen in that session, and the mode of the agent's current session.
        """
        _, run = self._sessions.mint(agent)
        runtimes = self._dependencies.runtimes
        modes = JobModes.of(before, before.permission_mode or agent.settings.permission_mode)
        for handoff in self._dependencies.store.handoffs(before.job):
            if handoff.old_session == before.id:
                modes = narrowed(runtimes, agent, modes, before, handoff.details.permission_mode)
        now = agent.session or before
        modes = merged(runtimes, modes, now.chosen_modes)
        modes = narrowed(runtimes, agent, modes, now, agent.session_state.permission_mode)
        return modes.save_in(replace(before, run=run, state="live", ended=None))

    def count_handoffs(self, job: JobId) -> int:
        """Return the number of confirmed handoffs of this job."""
        handoffs = self._dependencies.store.handoffs(job)
        return sum(handoff.outcome in CONFIRMED for handoff in handoffs)

    async def restore_worktree(self, agent: Agent) -> Worktree | None:
        """Recreate the missing worktree of the agent's job; return None if nothing was recreated.

        Raises like `Worktrees.ensure`, such as `NotNow` if the branch is taken, and `NoAnswer` if
        the file system does not answer.
        """
        record, worktrees = agent.record, self._dependencies.worktrees
        if not record.worktree or not record.branch:
            return None
        exists, slow = Path(record.worktree).is_dir, self._dependencies.slow
        if await slow.ask(Path(record.worktree), exists, DIRECTORY_SECONDS):
            return None
        home = await worktrees.home(agent.settings.directory)
        if home is None or record.job is None:
            return None
        made = await worktrees.ensure(
            home, Path(record.worktree), record.branch, "", agent=agent.name, job=record.job
        )
        record_worktree_ready(
            self._dependencies.event_log,
            agent,
            made,
            f"was missing and was recreated: {made.directory}",
        )
        return made


def _step_in_owner(owner: Agent, session: SessionId) -> str:
    """Return the step that opens a session in the agent that owns the session."""
    name = owner.name
    if owner.alive and owner.record.session == session:
        return f"Open the pane: cockpit attach {name}"
    reopen = f"cockpit start {name} --resume {session}"
    if owner.in_use:
        return f"Stop {name} first: cockpit stop {name}. Then reopen the session: {reopen}"
    return f"Reopen the session: {reopen}"
