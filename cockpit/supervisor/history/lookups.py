"""What is looked up about one agent when somebody asks: its course, its diff. Only looks."""

from __future__ import annotations

from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.history.context_history import ContextHistory
from cockpit.wire.course import Course
from cockpit.wire.diff import DiffFile, WorktreeDiff


class Lookups:
    """Reads about one agent."""

    def __init__(
        self,
        dependencies: Dependencies,
        context_history: ContextHistory,
    ) -> None:
        self._dependencies = dependencies
        self._context_history = context_history

    async def course(self, agent: Agent) -> Course:
        """How full the context was, over every session of the job."""
        return await self._context_history.of(agent)

    async def diff(self, agent: Agent, *, of_job: bool) -> WorktreeDiff:
        """How the agent's directory differs from the last commit, or from where its job began."""
        base = agent.job.base_commit if agent.job and of_job else None
        found = await self._dependencies.worktrees.diff(agent.directory, since_commit=base)
        return WorktreeDiff(
            directory=str(agent.directory),
            since=found.base,
            of_job=base is not None and found.base == base,
            files=[
                DiffFile(path=each.path, added=each.added, removed=each.removed)
                for each in found.files
            ],
            untracked=list(found.untracked),
            text=found.text,
            cut=found.cut,
            unknown=found.unknown,
        )
