"""Complete the work that a killed supervisor left unfinished, before requests are answered.

A running process takes precedence over the agent's record, and the agent's record over its
sessions' records. Interrupted stops are finished, and every session without a process is marked as
ended.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial

from cockpit.adapters.files.foreign_files import is_file
from cockpit.core.errors import CockpitError
from cockpit.core.events import AgentStopped
from cockpit.core.ids import SessionId
from cockpit.ports.slow_calls import NoAnswer
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.lifecycle import Sessions
from cockpit.supervisor.sessions.session_changes import SessionChanges
from cockpit.supervisor.sessions.undo import Undo

_log = logging.getLogger(__name__)


class Repair:
    """Makes processes and the records of agents and sessions agree after a restart."""

    def __init__(
        self,
        dependencies: Dependencies,
        fleet: Fleet,
        sessions: Sessions,
        undo: Undo,
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._sessions = sessions
        self._changes = SessionChanges(dependencies, sessions)
        self._undo = undo

    async def reconcile(self) -> None:
        """Finish undos and stops, then make processes and records agree. Idempotent."""
        await self._undo.finish_undos()
        for agent in self._fleet:
            try:
                await self._finish_stop(agent)
                await self._follow_process(agent)
            except (CockpitError, OSError) as refused:
                _log.warning("%s could not be reconciled: %s", agent.name, refused)
                agent.troubles.fail("repair", str(refused))
            except Exception as bug:  # noqa: BLE001 - one agent must not stop the start
                _log.exception("%s could not be reconciled", agent.name)
                agent.troubles.fail(
                    "repair", f"restoring {agent.name} failed: {bug!r}; see the log"
                )
        self._close_sessions()

    async def _finish_stop(self, agent: Agent) -> None:
        """Finish a stop that was saved but interrupted, even if the process has already ended."""
        if agent.record.wanted or agent.handoff is not None:
            return
        if not agent.alive and not _is_open(agent):
            return
        async with self._sessions.locks.hold(agent.name, "being stopped"):
            ending = await self._sessions.end(agent)
            if not ending.gone:
                survivors = ", ".join(map(str, ending.survivors))
                why = (
                    f"the agent was stopped, but SIGKILL does not end processes {survivors}. "
                    "To try again: cockpit down; cockpit up"
                )
                self._dependencies.store.save_agent(agent.change(gave_up=why))
                return
            agent.exit = None
            self._sessions.finish(agent)
            self._dependencies.event_log.record(
                AgentStopped(told=False),
                f"{agent.name} was stopped, as requested before the restart",
                agent.name,
            )

    async def _follow_process(self, agent: Agent) -> None:
        """Set the agent's session to the one that the process reports, if it differs."""
        if (
            not agent.alive
            or agent.process is None
            or agent.session is None
            or agent.handoff is not None
        ):
            return
        slow, environment = self._dependencies.slow, self._sessions.orders.environment(agent)
        look = partial(agent.runtime.presence, agent.process.pid, environment)
        try:
            presence = await slow.ask(("presence", agent.name), look)
        except NoAnswer:
            return
        if presence is None or presence.session_id in {None, agent.cli_session}:
            return
        assert presence.session_id is not None
        ident = SessionId(presence.session_id)
        order = self._sessions.orders.of(agent, replace(agent.session, cli_id=ident), None)
        find = partial(agent.runtime.transcript, order)
        try:
            transcript = await slow.ask(("record", agent.name), find)
        except NoAnswer:
            return
        place = transcript if transcript and is_file(transcript) else None
        self._changes.follow_new_session(agent, ident, place, "resume")

    def _close_sessions(self) -> None:
        """Mark as ended every session that is stored as live but has no process.

        Skips sessions of a handoff in progress, which the handoff updates itself.
        """
        store = self._dependencies.store
        now = self._dependencies.clock.now().timestamp()
        for session in store.live_sessions():
            agent = self._fleet.find(session.agent)
            if agent is not None:
                if agent.handoff is not None:
                    continue
                if agent.alive and agent.record.session == session.id:
                    continue
            closed = replace(session, state="ended", ended=session.ended or now)
            store.save_session(closed)
            if agent is not None:
                if agent.session is not None and agent.session.id == session.id:
                    agent.session = closed
                agent.read_chain(store, agent.job.id if agent.job else None)


def _is_open(agent: Agent) -> bool:
    """Return whether the agent's record has a process, or its session is stored as live."""
    live = agent.session is not None and agent.session.state == "live"
    return live or agent.record.pid is not None
