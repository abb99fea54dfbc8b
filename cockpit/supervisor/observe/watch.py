"""Watch all agents: hook reports, transcripts, and the CLIs' status files.

An error with one agent does not affect the others. Makes no decisions: calls `consider` for each
agent that changed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from cockpit.ports.runtimes import Signal
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.observe.agent_errors import safely
from cockpit.supervisor.observe.hook_reports import HookReports
from cockpit.supervisor.observe.status_files import StatusFiles
from cockpit.supervisor.observe.transcripts import Transcripts
from cockpit.supervisor.sessions.lifecycle import Sessions
from cockpit.supervisor.sessions.session_changes import SessionChanges


class Watch:
    """The watchers of the agents' transcripts, hook reports and status files.

    Each watcher has a method `follow`, which runs as a task.
    """

    def __init__(
        self,
        dependencies: Dependencies,
        sessions: Sessions,
        agents: Callable[[], Iterable[Agent]],
        take: Callable[[], list[Signal]],
        consider: Callable[[Agent], Awaitable[None]],
        *,
        compacts: Callable[[Agent], object],
        compacted: Callable[[Agent], None],
    ) -> None:
        """`compacts` is called when a CLI waits before a compaction, `compacted` after it."""
        self._consider = consider
        changes = SessionChanges(dependencies, sessions)
        self.transcripts = Transcripts(dependencies, agents, consider, compacted)
        self.reports = HookReports(
            dependencies,
            changes,
            agents,
            take,
            consider,
            wake=self.transcripts.wake,
            compacts=compacts,
        )
        self.status_files = StatusFiles(dependencies, sessions, changes, agents, consider)

    async def consider(self, agent: Agent) -> None:
        """Check an agent as if it had just reported something."""
        await safely(agent, "state", self._consider(agent))
