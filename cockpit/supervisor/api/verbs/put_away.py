"""`cockpit forget` and `cockpit rename`: remove or rename agents whose process has ended."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from cockpit.core.errors import CockpitError, NotNow
from cockpit.core.events import AgentRenamed, Plain
from cockpit.core.ids import AgentName, agent_name
from cockpit.core.safetext import safe_line
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.agents.locks import AgentLocks
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.lifetime import Lifetime
from cockpit.supervisor.sessions.lifecycle import Sessions
from cockpit.supervisor.sessions.refusals import refuse_if_handing_off, refuse_if_opening
from cockpit.wire.verbs import Done, Forget, Rename


class PutAwayHandler:
    """Removes ended agents from the list (`Forget`), and renames them (`Rename`)."""

    def __init__(
        self,
        *,
        dependencies: Dependencies,
        fleet: Fleet,
        sessions: Sessions,
        locks: AgentLocks,
        life: Lifetime,
        changed: Callable[[Agent], None],
        forgotten: Callable[[AgentName], None],
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._sessions = sessions
        self._locks = locks
        self._life = life
        self._changed = changed
        self._forgotten = forgotten

    async def forget(self, asked: Forget) -> Done:
        """Remove an ended agent.

        Its history, documents and worktree stay. The caller holds the agent's lock.
        """
        agent = self._fleet.agent(asked.name)
        self._refuse_if_in_use(agent)
        self._sessions.unwatch(agent)
        self._sessions.finish(agent)
        self._fleet.remove(agent)
        self._forgotten(agent.name)
        self._dependencies.event_log.record(
            Plain("agent.forgotten"), f"{agent.name} was removed from the list", agent.name
        )
        await self._close_pane(agent)
        kept = "its history and documents are kept"
        if agent.record.worktree:
            kept += f", and its worktree {safe_line(agent.record.worktree)}"
        comes_back = self._comes_back(agent)
        return Done(message=f"Forgot {agent.name}; {kept}{comes_back}", name=agent.name)

    async def rename(self, asked: Rename) -> Done:
        """Give an ended agent another name. Its history and chain are kept."""
        new = agent_name(asked.to)
        async with self._locks.hold_all((asked.name, new), "being renamed"):
            if self._life.ending:
                raise NotNow(
                    "The supervisor is shutting down",
                    "You stopped it with cockpit down.",
                    hint="To start it again: cockpit up",
                )
            return await self._rename(self._fleet.agent(asked.name), new)

    async def _rename(self, agent: Agent, new: AgentName) -> Done:
        old = agent.name
        if new == old:
            return Done(message=f"{old} already has that name", name=old)
        self._refuse_if_in_use(agent)
        if self._fleet.find(new) is not None:
            raise NotNow(
                f"Another agent is named {new}",
                "Agent names are unique.",
                f"Choose another name: {self._fleet.free_name(new)}",
            )
        self._sessions.unwatch(agent)
        self._fleet.rename(agent, new)
        self._forgotten(old)
        self._changed(agent)
        self._dependencies.event_log.record(
            AgentRenamed(before=old), f"{old} was renamed to {new}", new
        )
        if agent.record.pane is not None:
            with suppress(
                CockpitError
            ):  # labels are only used to find panes whose process is running
                await self._dependencies.panes.relabel(agent.record.pane, new)
        kept = ""
        if agent.record.worktree:
            branch = f" and branch {safe_line(agent.record.branch)}" if agent.record.branch else ""
            keep = "keep their names" if branch else "keeps its name"
            kept = f"; its worktree {safe_line(agent.record.worktree)}{branch} {keep}"
        still = ""
        if self._define_again(old) is not None:
            file = safe_line(agent.record.config_file or "your configuration")
            still = (
                f". {file} still defines {old}, so {old} is listed as not started. Change the name "
                f"there too, then: cockpit forget {old}"
            )
        return Done(message=f"Renamed {old} to {new}; its history is kept{kept}{still}", name=new)

    def _refuse_if_in_use(self, agent: Agent) -> None:
        """Raise `NotNow` while the agent is starting, has a process, or is being handed off."""
        if agent.start.setup:
            raise NotNow(
                f"{agent.name} is being started",
                f"Current step: {agent.start.setup}",
                f"Wait, or cancel the start: cockpit stop {agent.name}",
            )
        refuse_if_opening(agent)
        refuse_if_handing_off(agent)
        processes, run = self._dependencies.processes, agent.record.run
        if agent.alive:
            raise NotNow(
                f"{agent.name} is running (pid {agent.process.pid if agent.process else '?'})",
                "The agent's process, pane and lock contain the name until the process ends.",
                f"Stop the agent first: cockpit stop {agent.name}",
            )
        if run is not None and (left := processes.marked(run)):
            pids = ", ".join(str(process.pid) for process in left)
            raise NotNow(
                f"Processes of {agent.name} are still running (pid {pids})",
                "The agent's session has ended, but background processes of the session continue.",
                f"End the processes first: cockpit stop {agent.name}",
            )

    async def _close_pane(self, agent: Agent) -> None:
        if agent.record.pane is not None:
            with suppress(CockpitError, OSError):  # an ended pane without an agent is harmless
                await self._dependencies.panes.close(agent.record.pane)

    def _comes_back(self, agent: Agent) -> str:
        """List the agent again if a file defines it; return a clause that says so."""
        file = safe_line(agent.record.config_file or "")
        if self._define_again(agent.name) is not None:
            return f". {file} defines the agent, so it is listed again as not started"
        if file:
            return f". If {file} still defines the agent, it is listed again when the file is read"
        return ""

    def _define_again(self, name: str) -> Agent | None:
        again = self._fleet.define_again(name)
        if again is not None:
            self._changed(again)
        return again
