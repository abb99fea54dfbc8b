"""Determine an agent's worktree and branch. Creates nothing.

Both `Start` and `Plan` use this module, so that a plan shows what a start does.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cockpit.config.git_folders import git_folder_around
from cockpit.config.same_paths import same_path
from cockpit.config.schema import AgentSettings
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import BadUsage
from cockpit.core.events import WorktreeReady
from cockpit.core.safetext import safe_line
from cockpit.ports.slow_calls import SlowCalls
from cockpit.ports.worktrees import Worktree, Worktrees

if TYPE_CHECKING:  # `cockpit move-step` only needs a place, and starts once for each step.
    from cockpit.supervisor.agents.agent import Agent
    from cockpit.supervisor.events import EventLog

JOB_UNKNOWN = "<job>"
"""Placeholder for the id of a job that has not begun."""
DIRECTORY_SECONDS = 10.0
"""Time limit in seconds for checking a directory. A busy machine can take some seconds."""


@dataclass(frozen=True, slots=True)
class Place:
    """A worktree that exists or would be created."""

    root: Path
    """The checkout or repository to which the worktree belongs."""
    folder: Path
    """The folder in which worktrees are created."""
    target: Path
    branch: str
    base: str
    """The commit or branch from which a new branch starts; empty for HEAD."""
    left: bool = False
    """Whether the worktree already exists, from an earlier job of the same agent."""


async def find_place(
    worktrees: Worktrees, slow: SlowCalls, settings: AgentSettings, job: str | None
) -> Place | None:
    """Return the worktree of this agent's next job; None if the agent works without a worktree.

    Raises `BadUsage` outside a repository, and `NoAnswer` if the file system does not answer.
    """
    own = settings.worktree
    if own.strategy == "none":
        return None
    facts = await worktrees.facts(settings.directory)
    home = None if facts.root else await worktrees.home(settings.directory)
    root = facts.root or home
    if root is None:
        raise BadUsage(
            f"{settings.directory} is not in a git repository",
            f"{settings.name} is configured to work in a worktree.",
            'Run git init in the directory, or set worktree.strategy = "none".',
        )
    ident = job[:8] if job else JOB_UNKNOWN
    branch = own.branch.format(agent=settings.name, work_item=own.work_item or ident, job=ident)
    # Worktrees of a bare repository are created next to its folder, not in it.
    beside = facts.root is None and not await slow.ask(
        root, (root / ".git").exists, DIRECTORY_SECONDS
    )
    within = root.parent if beside else root
    folder = own.directory if own.directory.is_absolute() else within / own.directory
    name = f"{settings.name}-{own.work_item}" if own.work_item else str(settings.name)
    target = folder / name.replace("/", "-")
    left = False
    if await slow.ask(target, target.is_dir, DIRECTORY_SECONDS):
        there = await worktrees.facts(target)
        if there.root is not None:
            same = partial(same_place, there.root, target)
            left = await slow.ask(target, same, DIRECTORY_SECONDS)
        if left and there.branch and not own.work_item:
            branch = there.branch
    return Place(root, folder, target, branch, own.base, left)


def refuse_git_folder(settings: AgentSettings, directory: Path) -> None:
    """Raise `BadUsage` if an agent, or its setup, would work inside a `.git` directory.

    Also raises for a bare repository, unless an agent with a worktree is configured to use it.
    """
    folder = git_folder_around(directory)
    only_named = settings.worktree.strategy != "none" and directory == settings.directory
    if folder is None or (only_named and same_place(folder, directory) and folder.name != ".git"):
        return
    raise BadUsage(
        f"{settings.name} cannot work in {safe_line(str(directory))}",
        f"{safe_line(str(folder))} is a git directory: git would run files in it.",
        "Choose the folder of a checkout.",
    )


def record_worktree_ready(event_log: EventLog, agent: Agent, made: Worktree, what: str) -> None:
    """Record that an agent's worktree is ready, and which git filters were not run."""
    unfiltered = ", ".join(made.unfiltered)
    filters = f"; the repository's own filters were not run: {unfiltered}" if unfiltered else ""
    event_log.record(
        WorktreeReady(
            directory=str(made.directory),
            branch=made.branch,
            created=made.created,
            new_branch=made.new_branch,
        ),
        f"The worktree of {agent.name} {what}{filters}",
        agent.name,
    )


def same_place(one: Path, other: Path) -> bool:
    """Return whether two paths lead to the same directory, following symlinks."""
    return same_path(one, other)
