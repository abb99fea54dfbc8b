"""Undo a handoff: end the current session and reopen the one before it.

The intent is saved in the session's record (state `undoing`) before anything is ended. Every step
is idempotent, so a restarted supervisor can finish the undo. The undone session stays in the chain.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from cockpit.adapters.files.foreign_files import is_file
from cockpit.core.errors import CockpitError, Failed, NotNow
from cockpit.core.events import HandoffUndone
from cockpit.ports.records import SessionRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.agents.latches import UNDONE
from cockpit.supervisor.agents.session_machine import machine_of
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.lifecycle import Sessions
from cockpit.supervisor.sessions.refusals import refuse_if_moved
from cockpit.supervisor.sessions.reopen import Reopening

UNDOING = "undoing"
"""State of a session that is being undone."""


class Undo:
    """Undoes handoffs, and finishes the undos of an earlier supervisor."""

    def __init__(
        self,
        dependencies: Dependencies,
        fleet: Fleet,
        sessions: Sessions,
        reopening: Reopening,
        changed: Callable[[Agent], None],
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._sessions = sessions
        self._reopening = reopening
        self._changed = changed

    async def undo(self, agent: Agent) -> SessionRecord:
        """End the agent's session and reopen the one before it. Return the reopened session.

        Errors of the checks, such as `NotNow`, come before anything is ended. Raises `Failed` if a
        process does not end, and the errors of `Sessions.open`. The caller holds the agent's lock.
        """
        self._sessions.locks.check_held(agent.name)
        session = agent.session
        before = self.previous(agent)
        assert session is not None
        again = self._reopening.reopened(agent, before)
        order = self._sessions.orders.of(agent, again, None, resume=True)
        runtime = self._sessions.orders.runtime_of(agent, again)
        await self._sessions.prepare(agent, order, runtime)
        await asyncio.to_thread(runtime.resumable, order)
        if agent.session is None or agent.session.id != session.id:
            raise NotNow(
                f"{agent.name}'s session changed meanwhile",
                "The pane now has another session or no session; nothing was ended.",
                f"Open the agent's pane: cockpit attach {agent.name}",
            )
        self._sessions.save_counts(agent)
        agent.session = replace(agent.session, state=UNDOING)
        self._dependencies.store.save_session(agent.session)
        return await self._swap_back(agent, agent.session, before)

    async def finish_undos(self) -> None:
        """Finish undos that were in progress when an earlier supervisor was killed.

        If the earlier session is already running, only saves the records. The screen shows
        failures.
        """
        for agent in self._fleet:
            undone = next((session for session in agent.chain if session.state == UNDOING), None)
            if undone is None or not agent.record.wanted:
                continue
            before = self._dependencies.store.session(undone.previous or "")
            try:
                if before is not None and agent.record.session == before.id and agent.alive:
                    self._note_done(agent, undone, before)
                elif before is not None:
                    async with self._sessions.locks.hold(agent.name, "being undone"):
                        await self._swap_back(agent, undone, before)
            except (CockpitError, OSError) as refused:
                why = f"cockpit could not finish the undo: {_reason(refused)}"
                self._dependencies.store.save_agent(agent.change(gave_up=why))
            self._changed(agent)

    def previous(self, agent: Agent) -> SessionRecord:
        """Return the session before the current one. Raises `NotNow` if it cannot be reopened."""
        session = agent.session
        if session is None or session.previous is None:
            raise NotNow(
                f"{agent.name} has no previous session",
                "Only a session that follows another one can be undone.",
                hint=f"To see the agent's sessions: cockpit history {agent.name}",
            )
        store = self._dependencies.store
        before = store.session(session.previous)
        if machine := machine_of(store.handoffs_of(session.job, session.previous)):
            raise NotNow(
                f"The previous session of {agent.name} is on {machine}",
                f"The job was moved from {machine}; only {machine} can reopen the session.",
                f"Move the job back: cockpit move {agent.name} --to {machine}",
            )
        if before is None or not before.transcript or not is_file(before.transcript):
            raise NotNow(
                f"Cannot reopen the previous session of {agent.name}",
                "The session's transcript no longer exists; CLIs delete old transcripts.",
                f"To list the session's handoff documents: cockpit history {agent.name}",
            )
        refuse_if_moved(self._dependencies, session)
        return before

    async def _swap_back(
        self, agent: Agent, undone: SessionRecord, before: SessionRecord
    ) -> SessionRecord:
        """End the current process and reopen the previous session. Idempotent."""
        again = self._reopening.reopened(agent, before)
        try:
            self._sessions.refuse_if_open(agent, again)
        except NotNow:
            self._give_up(agent, undone, "live" if agent.alive else "ended")
            raise
        ending = await self._sessions.end(agent)
        if not ending.gone:
            self._give_up(agent, undone, "live")
            survivors = ", ".join(str(pid) for pid in ending.survivors)
            raise Failed(
                f"Cannot end the session of {agent.name}",
                f"Processes {survivors} do not end, not even with SIGKILL.",
                hint="The processes are blocked in the kernel, such as by a network drive. "
                "Try again later.",
            )
        self._latch_undone(again)
        try:
            await self._sessions.open(agent, again, None, resume=True)
        except (CockpitError, OSError) as refused:
            self._give_up(agent, undone, "ended")
            why = (
                f"session {before.number} could not be reopened ({_reason(refused)}); "
                f"the session after it has ended. Try again: cockpit undo {agent.name}"
            )
            self._dependencies.store.save_agent(agent.change(gave_up=why))
            raise
        self._note_done(agent, undone, again)
        return again

    def _latch_undone(self, session: SessionRecord) -> None:
        """Record that the user returned to this session, so that the next handoff needs
        approval."""
        store, now = self._dependencies.store, self._dependencies.clock.now().timestamp()
        with store.transaction():
            store.unlatch(session.id, UNDONE)
            store.latch(session.id, UNDONE, now)

    def _give_up(self, agent: Agent, undone: SessionRecord, state: str) -> None:
        left = replace(undone, state=state)
        self._dependencies.store.save_session(left)
        if agent.record.session == left.id:
            agent.session = left
        self._changed(agent)

    def _note_done(self, agent: Agent, undone: SessionRecord, before: SessionRecord) -> None:
        """Store the completed undo in one transaction, so that a crash cannot leave it half
        stored."""
        now = self._dependencies.clock.now().timestamp()
        store = self._dependencies.store
        with store.transaction():
            store.save_session(replace(undone, state="undone", ended=now))
            agent.read_chain(store, before.job)
            store.save_agent(
                agent.change(
                    note=f"back in session {before.number}: session {undone.number} was undone"
                )
            )
            self._dependencies.event_log.record(
                HandoffUndone(old_session=undone.id, new_session=before.id),
                f"{agent.name} is back in session {before.number}; session {undone.number} is kept",
                agent.name,
            )


def _reason(refused: CockpitError | OSError) -> str:
    return refused.title if isinstance(refused, CockpitError) else str(refused)
