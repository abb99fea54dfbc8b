"""Ending agents because the user asked, also where nothing can be written.

That an agent is stopped is written down before it is ended, so that a supervisor which is killed
meanwhile finishes it. A disk that takes nothing does not keep an agent alive: it is ended, the
answer says what is not written, and `write_late` writes it when there is room again. A handoff is
different: one that is open on the disk would go on after a restart, so it must be called off first.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from cockpit.core.errors import Failed, Hindered
from cockpit.core.safetext import safe_line
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.lifecycle import Sessions


class Stopper:
    """Ends agents for their user, and writes it down as soon as the disk takes it."""

    def __init__(
        self,
        dependencies: Dependencies,
        fleet: Fleet,
        sessions: Sessions,
        told_of_end: Callable[[Agent], bool],
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._sessions = sessions
        self._told_of_end = told_of_end

    async def end_for_user(self, agent: Agent) -> str:
        """End the agent's process; the caller holds its lock, and no handoff is under way.

        Returns a sentence about what could not be written down, or an empty one. Raises `Failed`
        where a process survives.
        """
        agent.change(wanted=False, note="stopped by you")
        refused: Hindered | None = None
        try:
            self._dependencies.store.save_agent(agent.record)
        except Hindered as full:
            refused = full
        if agent.record.run is not None:
            ending = await self._sessions.end_process(agent)
            if not ending.gone:
                pids = ", ".join(str(pid) for pid in ending.survivors)
                raise Failed(
                    f"{agent.name} cannot be ended",
                    f"Processes {pids} do not end, not even with SIGKILL.",
                )
        agent.exit = None
        agent.progress.acknowledge()
        agent.troubles.stop_unwritten = True
        try:
            self._write(agent)
        except Hindered as full:
            refused = full
        else:
            return ""
        why = safe_line(refused.detail or refused.title, 300).rstrip(".")
        return (
            f". That it was stopped could not be written down: {why}. It is written when there is"
            " room; a supervisor that restarts before that says that it ended by itself"
        )

    def write_late(self) -> None:
        """Write down the stops that a full disk refused. Quick where there are none."""
        for agent in self._fleet:
            if not agent.troubles.stop_unwritten or self._sessions.locks.is_held(agent.name):
                continue
            if agent.alive or agent.record.wanted:  # started since, and that was written
                agent.troubles.stop_unwritten = False
                continue
            with suppress(Hindered):  # tried again the next time
                self._write(agent)
                self.tell_stopped(agent)

    def tell_stopped(self, agent: Agent) -> None:
        """Record that the agent was stopped."""
        told = self._told_of_end(agent)
        self._dependencies.event_log.record(
            "agent.stopped", f"{agent.name} was stopped", agent.name, told=told
        )

    def _write(self, agent: Agent) -> None:
        self._dependencies.store.save_agent(agent.record)
        self._sessions.finish(agent)
        agent.troubles.stop_unwritten = False


def handoff_stays(agent: Agent, full: Hindered) -> Hindered:
    """Why an agent is not ended whose handoff cannot be called off."""
    return Hindered(
        f"{agent.name} was not stopped: its handoff cannot be called off",
        f"{full.detail} After a restart, the handoff would go on and start a new session.",
        f"Free some space (df -h), then again: cockpit stop {agent.name}",
    )
