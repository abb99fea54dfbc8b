"""Stop agents for the user, also when nothing can be saved.

That an agent is stopped is saved before its process is ended, so that a restarted supervisor can
finish the stop. On a disk error the agent is stopped all the same: the answer says what was not
saved, and `write_late` saves it when the disk has space. An open handoff is different: it would
continue after a restart, so it must be cancelled, and saved as cancelled, first.
"""

from __future__ import annotations

from contextlib import suppress

from cockpit.core.errors import Failed, Hindered
from cockpit.core.events import AgentStopped
from cockpit.core.safetext import safe_line
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.agents.latches import has_reported_done
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.lifecycle import Sessions


class Stopper:
    """Stops agents for the user, and saves it as soon as the disk allows."""

    def __init__(
        self,
        dependencies: Dependencies,
        fleet: Fleet,
        sessions: Sessions,
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._sessions = sessions

    async def end_for_user(self, agent: Agent) -> str:
        """End the agent's process; the caller holds its lock, and no handoff is under way.

        Returns a sentence if something could not be saved, else an empty text. Raises `Failed` if a
        process survives.
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
                    f"Cannot end {agent.name}",
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
            f". cockpit could not save the stop: {why}. It is saved when the disk has space; a"
            " supervisor that restarts before that reports that the agent ended on its own"
        )

    def write_late(self) -> None:
        """Save the stops that a disk error kept from being saved. Fast if there are none."""
        for agent in self._fleet:
            if not agent.troubles.stop_unwritten or self._sessions.locks.is_held(agent.name):
                continue
            if agent.alive or agent.record.wanted:  # started since, and that was saved
                agent.troubles.stop_unwritten = False
                continue
            with suppress(Hindered):  # tried again the next time
                self._write(agent)
                self.record_stop(agent)

    def record_stop(self, agent: Agent) -> None:
        """Record that the agent was stopped."""
        reported = has_reported_done(self._dependencies.store, agent)
        self._dependencies.event_log.record(
            AgentStopped(told=reported), f"{agent.name} was stopped", agent.name
        )

    def _write(self, agent: Agent) -> None:
        self._dependencies.store.save_agent(agent.record)
        self._sessions.finish(agent)
        agent.troubles.stop_unwritten = False


def handoff_not_cancelled(agent: Agent, full: Hindered) -> Hindered:
    """The error for an agent that is not stopped because its handoff cannot be cancelled."""
    return Hindered(
        f"{agent.name} was not stopped: cockpit cannot cancel its handoff",
        f"{full.detail} After a restart, the handoff would continue and start a new session.",
        f"Free some space (df -h), then try again: cockpit stop {agent.name}",
    )
