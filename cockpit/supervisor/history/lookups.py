"""Data about one agent that is read on request: its context history and its diff."""

from __future__ import annotations

from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.history.context_history import ContextHistory
from cockpit.wire.course import Course
from cockpit.wire.diff import DiffFile, WorktreeDiff


class Lookups:
    """Reads the context history and the diff of agents."""

    def __init__(
        self,
        dependencies: Dependencies,
        context_history: ContextHistory,
    ) -> None:
        self._dependencies = dependencies
        self._context_history = context_history

    async def course(self, agent: Agent) -> Course:
        """Return the context history of every session of the agent's job."""
        return await self._context_history.of(agent)

    async def diff(self, agent: Agent, *, of_job: bool) -> WorktreeDiff:
        """Return the diff of the agent's directory since HEAD.

        With `of_job`, since the job began; if the commit of that time is unknown, since HEAD.
        """
        base = agent.job.base_commit if agent.job and of_job else None
        diff = await self._dependencies.worktrees.diff(agent.directory, since_commit=base)
        return WorktreeDiff(
            directory=str(agent.directory),
            since=diff.base,
            of_job=base is not None and diff.base == base,
            files=[
                DiffFile(path=file.path, added=file.added, removed=file.removed)
                for file in diff.files
            ],
            untracked=list(diff.untracked),
            text=diff.text,
            cut=diff.cut,
            unknown=diff.unknown,
        )
