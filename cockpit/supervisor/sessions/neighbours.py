"""Check that an agent can work in its directory: other agents, and worktrees being removed."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from cockpit.core.errors import NotNow
from cockpit.core.events import Plain
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.agents.leases import Leases
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.location import (
    DIRECTORY_SECONDS,
    refuse_git_folder,
    same_place,
)


class Neighbours:
    """Finds other agents in a directory.

    `removal_above` returns the worktree that contains a path, if that worktree is being removed.
    """

    def __init__(
        self,
        dependencies: Dependencies,
        fleet: Fleet,
        leases: Leases,
        removal_above: Callable[[Path], Path | None],
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._leases = leases
        self._removal_above = removal_above

    async def check_free(self, agent: Agent) -> None:
        """Raise `BadUsage` or `NotNow` if the agent cannot be started in its directory."""
        slow, settings = self._dependencies.slow, agent.settings
        refuse = partial(refuse_git_folder, settings, settings.directory)
        await slow.ask(settings.directory, refuse, DIRECTORY_SECONDS)
        self._refuse_taken(agent)
        await self._leases.ensure_free(agent)

    def check(self, agent: Agent) -> None:
        """Raise `NotNow` if the worktree is being removed, or if another agent works in it.

        In a directory that is not an agent's worktree, records a warning about other agents.
        """
        self._refuse_taken(agent)
        for other in self.of(agent):
            self._dependencies.event_log.record(
                Plain("agent.company"),
                f"{agent.name} is in the same directory as {other.name}; their edits may conflict",
                agent.name,
            )

    def _refuse_taken(self, agent: Agent) -> None:
        """Raise `NotNow` if the place is being removed, or is the worktree of another agent."""
        place = Path(os.path.realpath(agent.directory))
        if (removed := self._removal_above(place)) is not None:
            raise NotNow(
                f"{removed} is being removed",
                f"{agent.name} would work in it.",
                "Wait until it is removed, or choose another directory: --directory DIR",
            )
        for other in self.of(agent):
            if other.record.worktree or agent.record.worktree:
                raise NotNow(
                    f"{other.name} is already running in {agent.directory}",
                    "Only one agent can run in a worktree.",
                    f"Stop it first: cockpit stop {other.name}. "
                    f"Or start {agent.name} with --worktree.",
                )

    def of(self, agent: Agent) -> list[Agent]:
        """Return other agents that are running, or being started, in the same directory."""
        return [
            other
            for other in self._fleet
            if other is not agent
            and (other.alive or other.start.under_way or other.start.hooks_run)
            and same_place(other.directory, agent.directory)
        ]

    async def refuse_nesting(self, agent: Agent, root: Path) -> None:
        """Raise `NotNow` if the new worktree would be inside the worktree of another agent.

        A worktree that the user created is allowed.
        """
        for other in self._fleet:
            if other.record.worktree and same_place(Path(other.record.worktree), root):
                raise NotNow(
                    f"{root} is the worktree of {other.name}",
                    f"The worktree of {agent.name} would be inside it.",
                    f"Use the repository itself: --directory {other.record.directory}",
                )
        await self._leases.check_not_owned(root)
