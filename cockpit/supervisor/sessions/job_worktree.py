"""Create the worktree of an agent's new job, or use the existing one."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from cockpit.config.project import folder_in_worktree
from cockpit.core.errors import BadUsage
from cockpit.core.exclusion import exclusion
from cockpit.ports.slow_calls import SlowCalls
from cockpit.ports.worktrees import Worktree
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.location import (
    DIRECTORY_SECONDS,
    find_place,
    record_worktree_ready,
    refuse_git_folder,
)
from cockpit.supervisor.sessions.neighbours import Neighbours


class JobWorktree:
    def __init__(self, dependencies: Dependencies, neighbours: Neighbours) -> None:
        self._dependencies = dependencies
        self._neighbours = neighbours

    async def ensure(self, agent: Agent, job: str) -> Worktree | None:
        """Create the worktree, or use the existing one; save it in the agent's record.

        Returns None if the agent works without a worktree.
        """
        worktrees, slow = self._dependencies.worktrees, self._dependencies.slow
        place = await find_place(worktrees, slow, agent.settings, job)
        if place is None:
            record = replace(agent.record, worktree=None, branch=None, folder=None)
            agent.save(self._dependencies.store, record)
            return None
        await self._neighbours.refuse_nesting(agent.name, place.root)
        made = await worktrees.ensure(
            place.root, place.target, place.branch, place.base, agent=agent.name, job=job
        )
        if place.folder.is_relative_to(place.root):
            excluded = place.folder.relative_to(place.root)
            await worktrees.keep_out(place.root, exclusion(excluded.parts))
        inner = partial(folder_in_worktree, made.directory, Path(agent.record.directory))
        folder = await slow.ask(made.directory, inner, DIRECTORY_SECONDS)
        record = replace(
            agent.record,
            worktree=str(made.directory),
            branch=made.branch,
            folder=str(folder),
        )
        agent.save(self._dependencies.store, record)
        wanted = agent.settings.worktree
        if made.created and not (wanted.setup or wanted.copy_files):
            await worktrees.set_ready(made.directory)
        record_worktree_ready(self._dependencies.event_log, agent, made, _origin_text(made))
        return made


async def check_directory(slow: SlowCalls, agent: Agent) -> None:
    """Raise `BadUsage` if the agent's folder is missing from its worktree or is a git directory."""
    if not agent.record.worktree:
        return
    directory = agent.directory
    if not await slow.ask(directory, directory.is_dir, DIRECTORY_SECONDS):
        raise BadUsage(
            f"{agent.directory} is not in the worktree",
            f"{agent.settings.directory} is not in the commit that the worktree starts from.",
            "Commit that folder, or set worktree.base to a branch that has it. Then remove the "
            f"worktree, and start again: cockpit worktrees remove {agent.name}",
        )
    refuse = partial(refuse_git_folder, agent.settings, directory)
    await slow.ask(directory, refuse, DIRECTORY_SECONDS)


def _origin_text(made: Worktree) -> str:
    """Return a clause that says whether worktree and branch were created or already existed."""
    if not made.created:
        return f"already exists and is used as it is: {made.directory} ({made.branch})"
    if made.new_branch:
        return f"was created: {made.directory} ({made.branch})"
    return f"was created: {made.directory}; the branch {made.branch} already exists and is used"
