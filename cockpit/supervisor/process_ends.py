"""Record how an agent's process ended, and advance the agent's handoff."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import OsProblem
from cockpit.ports.processes import ProcessId
from cockpit.supervisor.agents.agent import Agent, Exit
from cockpit.supervisor.agents.dialogs import Dialogs
from cockpit.supervisor.agents.exit_reason import find_exit, lost_panes
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.handoff.engine import Engine
from cockpit.supervisor.observe.watch import Watch
from cockpit.supervisor.sessions.interruptions import ended_with_server, note_interrupted
from cockpit.supervisor.sessions.lifecycle import Sessions

LAST_LOOK_SECONDS = 5.0
"""Time limit in seconds for reading the rest of the transcript after an agent's end."""


@dataclass(frozen=True, kw_only=True)
class ProcessEnds:
    """Handles the end of agents' processes."""

    dependencies: Dependencies
    fleet: Fleet
    sessions: Sessions
    watch: Watch
    dialogs: Dialogs
    engine: Engine
    reconsider: Callable[[Agent], None]
    """Checks whether a handoff is due, for an agent about which a hook reported something."""
    changed: Callable[[Agent], None]

    async def handle(self, agent: Agent, process: ProcessId | None, run: str | None) -> None:
        """Record how a process with the marker `run` ended, and let the agent's handoff react.

        `process` is None if the process ended before it was identified. Does nothing if the agent
        already has another process.
        """
        if agent.process != process or agent.record.run != run:
            return
        handing_off = agent.handoff is not None
        agent.exit = pending = Exit(self.dependencies.clock.now().timestamp(), pending=True)
        doing = "ending"
        try:
            async with self.sessions.locks.hold(agent.name, doing):
                if agent.process == process and agent.record.run == run:
                    await self._record(agent, handing_off=handing_off)
        finally:
            if agent.exit is pending:
                agent.exit = replace(pending, pending=False)
        await self._forget_lost_panes()
        if agent.handoff is not None:
            await self.engine.look(agent)

    async def _record(self, agent: Agent, *, handing_off: bool) -> None:
        known = await find_exit(self.dependencies, agent)
        for other in self.watch.reports.process_once():
            if other is not agent:
                self.reconsider(other)
        await self.watch.transcripts.read_to_end(agent, LAST_LOOK_SECONDS)
        agent.exit = known
        self.dialogs.save(agent)
        if agent.record.wanted and ended_with_server(known):
            note_interrupted(self.dependencies, agent, "terminal")
        if not handing_off and agent.handoff is None:
            self.sessions.record_exit(agent, known)
        self.changed(agent)

    async def _forget_lost_panes(self) -> None:
        """Remove missing panes from the agents' records, and note why the panes are missing."""
        for agent, loss in await lost_panes(self.dependencies, self.fleet):
            if self.sessions.locks.is_held(agent.name):
                continue  # the agent may be getting another pane; checked again at the next end
            with contextlib.suppress(OsProblem):  # checked again at the next end
                self.dependencies.store.save_agent(agent.change(pane=None))
            agent.lost_pane = loss
            self.changed(agent)
