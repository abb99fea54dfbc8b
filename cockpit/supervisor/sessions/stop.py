"""Stop agents for the user, even when nothing can be saved.

The stop is saved before the process is ended, so that a restarted supervisor can finish the stop.
After a disk error the agent is still stopped: the response says that the stop was not saved, and
`write_late` saves it once the disk is writable. But with an open handoff, a disk error prevents the
stop. The handoff must first be saved as cancelled, because otherwise it would continue after a
restart.
"""

from __future__ import annotations

from contextlib import suppress

from cockpit.core.errors import Failed, OsProblem
from cockpit.core.events import AgentStopped
from cockpit.core.safetext import safe_line
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.agents.latches import has_reported_done
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.lifecycle import Sessions


class Stopper:
    """Stops agents for the user. After a disk error, saves the stop once the disk is writable."""

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
        """End the agent's process. The caller holds the agent's lock; no handoff is in progress.

        Returns a warning if the stop could not be saved, else an empty string. Raises `Failed` if a
        process cannot be ended.
        """
        agent.change(wanted=False, note="stopped by you")
        refused: OsProblem | None = None
        try:
            self._dependencies.store.save_agent(agent.record)
        except OsProblem as full:
            refused = full
        await self.end_processes(agent)
        agent.exit = None
        agent.progress.acknowledge()
        agent.troubles.stop_unwritten = True
        try:
            self._write(agent)
        except OsProblem as full:
            refused = full
        else:
            return ""
        why = safe_line(refused.detail or refused.title, 300).rstrip(".")
        return (
            f". cockpit could not save the stop: {why}. cockpit saves the stop when the disk is"
            " writable. If cockpit restarts before that, it reports that the agent ended on its own"
        )

    async def end_processes(self, agent: Agent) -> None:
        """End the agent's remaining processes, without changing its row and exit code.

        Raises `Failed` if a process cannot be ended.
        """
        if agent.record.run is None:
            return
        ending = await self._sessions.end_process(agent)
        if not ending.gone:
            pids = ", ".join(str(pid) for pid in ending.survivors)
            raise Failed(
                f"Cannot end {agent.name}",
                f"Processes {pids} do not end, not even with SIGKILL.",
                hint="The processes are blocked in the kernel, such as by a network drive. "
                "Try again later.",
            )

    def write_late(self) -> None:
        """Save stops that could not be saved because of a disk error. Fast if there are none."""
        for agent in self._fleet:
            if not agent.troubles.stop_unwritten or self._sessions.locks.is_held(agent.name):
                continue
            if (
                agent.alive or agent.record.wanted
            ):  # the agent was started again, so the stop is outdated
                agent.troubles.stop_unwritten = False
                continue
            with suppress(OsProblem):  # saved by a later call
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


def handoff_not_cancelled(agent: Agent, full: OsProblem) -> OsProblem:
    """Return the error for a stop that fails because the handoff cannot be saved as cancelled."""
    return OsProblem(
        f"{agent.name} was not stopped: cockpit cannot cancel its handoff",
        f"{full.detail} The handoff would continue after a restart, and start a new session.",
        f"Free some space (df -h), then try again: cockpit stop {agent.name}",
    )
