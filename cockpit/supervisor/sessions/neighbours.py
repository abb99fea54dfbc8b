"""Check that an agent can work in its directory: other agents, and worktrees being removed."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from cockpit.config.same_paths import is_within
from cockpit.core.errors import NotNow
from cockpit.core.events import Plain
from cockpit.core.ids import AgentName
from cockpit.ports.slow_calls import NoAnswer
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

    `being_removed` returns the worktrees that are being removed. Ignores an agent whose directory
    is on a file system that does not answer. Callers check first that the directory in question
    answers, so such an agent must be in another directory.
    """

    def __init__(
        self,
        dependencies: Dependencies,
        fleet: Fleet,
        leases: Leases,
        being_removed: Callable[[], Iterable[Path]],
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._leases = leases
        self._being_removed = being_removed

    async def check_free(self, agent: Agent) -> None:
        """Raise `BadUsage` or `NotNow` if the agent cannot be started in its directory."""
        slow, settings = self._dependencies.slow, agent.settings
        refuse = partial(refuse_git_folder, settings, settings.directory)
        await slow.ask(settings.directory, refuse, DIRECTORY_SECONDS)
        await self.refuse_taken(agent.name, agent.directory, own=agent.record.worktree is not None)
        await self._leases.ensure_free(agent)

    async def check(self, agent: Agent) -> None:
        """Raise `NotNow` if the agent's directory is being removed, or if another agent runs in it.

        Several agents may run in a directory that is no agent's worktree: then only records a
        warning.
        """
        await self.refuse_taken(agent.name, agent.directory, own=agent.record.worktree is not None)
        for other in await self.of(agent):
            self._dependencies.event_log.record(
                Plain("agent.company"),
                f"{agent.name} is in the same directory as {other.name}; their edits may conflict",
                agent.name,
            )

    async def refuse_taken(self, name: AgentName, directory: Path, *, own: bool) -> None:
        """Raise `NotNow` if the directory is being removed, or if another agent runs in it.

        Exception: agents may share a directory that is no agent's worktree. `name`: the agent that
        would work in the directory. `own`: the directory is the worktree of that agent.
        """
        if (removed := await self._removal_above(directory)) is not None:
            raise NotNow(
                f"{removed} is being removed",
                f"{name} would work in this worktree.",
                "Wait until the worktree is removed, or choose another directory: --directory DIR",
            )
        for other in await self.at(name, directory):
            hint = f"Stop {other.name} first: cockpit stop {other.name}"
            if other.record.worktree:
                repository = shlex.quote(other.record.directory)
                hint += f". Or create a worktree for {name}: "
                hint += f"cockpit start {name} --directory {repository} --worktree"
            if other.record.worktree or own:
                raise NotNow(
                    f"{other.name} is already running in {directory}",
                    "Only one agent can run in a worktree.",
                    hint,
                )

    async def of(self, agent: Agent) -> list[Agent]:
        """Return other agents that are running, or being started, in the same directory."""
        return await self.at(agent.name, agent.directory)

    async def at(self, name: AgentName, directory: Path) -> list[Agent]:
        """Return agents other than `name` that are running, or being started, in the directory.

        At least one of two simultaneous starts in a directory finds the other: each start is marked
        as under way before it calls this method, and the method reads all marks before it waits for
        a file system.
        """
        others = [
            other
            for other in self._fleet
            if other.name != name
            and (other.alive or other.start.under_way or other.start.hooks_run)
        ]
        return [other for other in others if await self._is_same(other.directory, directory)]

    async def _removal_above(self, directory: Path) -> Path | None:
        """Return the worktree that contains the directory, if that worktree is being removed."""
        for removed in list(self._being_removed()):
            if await self._answers(removed, partial(_is_inside, directory, removed)):
                return removed
        return None

    async def refuse_nesting(self, name: AgentName, root: Path) -> None:
        """Raise `NotNow` if the new worktree would be inside the worktree of another agent.

        A worktree that the user created is allowed.
        """
        for other in list(self._fleet):
            if other.record.worktree and await self._is_same(Path(other.record.worktree), root):
                raise NotNow(
                    f"{root} is the worktree of {other.name}",
                    f"The worktree of {name} would be inside the worktree of {other.name}.",
                    f"Use the repository itself: --directory {other.record.directory}",
                )
        await self._leases.check_not_owned(root)

    async def _is_same(self, place: Path, answering: Path) -> bool:
        """Return whether `place` leads to the directory `answering`."""
        return await self._answers(place, partial(same_place, place, answering))

    async def _answers(self, place: Path, compare: Callable[[], bool]) -> bool:
        """Return the result of comparing `place` with a directory that has just answered.

        False if the file system of `place` does not answer.
        """
        try:
            return await self._dependencies.slow.ask(place, compare, DIRECTORY_SECONDS)
        except NoAnswer:
            return False


def _is_inside(directory: Path, worktree: Path) -> bool:
    """Return whether the directory is the worktree or in it, following symlinks."""
    return is_within(Path(os.path.realpath(directory)), Path(os.path.realpath(worktree)))
