"""`GET /v1/worktrees` and `cockpit worktrees --json`: the current state of each linked worktree.

An unknown value is null, never 0. Fields may be added; none is renamed.
"""

from __future__ import annotations

from pydantic import Field

from cockpit.wire.status import State, Wire


class Obstacle(Wire):
    """A reason why a worktree would not be removed."""

    why: str
    next: str
    """The user's next step, as a sentence; it may name a command."""
    salvageable: bool = False
    """True if this reason does not block a removal with `--salvage`, which saves the content."""
    agent: str | None = None
    """The agent that is running in the worktree, if this is the reason."""


class WorktreeStatus(Wire):
    directory: str
    host: str | None = None
    """The host of the worktree; null in the response of that host itself."""
    repository: str
    branch: str | None = None
    """Branch of the worktree; null if HEAD is detached."""
    head: str | None = None
    agent: str | None = None
    """The agent that uses or used the worktree, or for which it was created."""
    state: State | None = None
    """The state of the agent; null if the agent has no status."""
    made: bool
    """True if cockpit created the worktree. cockpit removes only worktrees that it created."""
    made_at: str | None = None
    missing: bool = False
    changed: int | None = None
    """Number of tracked files that differ from HEAD, or of staged files if `missing`; null if git
    would have to run programs that the repository configures."""
    overlooked: int = 0
    """Number of changed files that `git status` does not show (assume-unchanged, skip-worktree)."""
    untracked: int | None = None
    ignored: list[str] = Field(default_factory=list)
    alone: int | None = None
    """Number of commits that are not pushed or merged; null if unknown."""
    behind: int | None = None
    """Number of commits of the base that the worktree does not have; null if unknown."""
    only_here: int | None = 0
    """Number of commits and objects that only git's files for the worktree refer to; null if git
    cannot list them. A removal saves them under a git reference."""
    busy: str | None = None
    lock: str | None = None
    """The reason in git for a lock on the worktree; null without a lock, or for cockpit's own lock.
    """
    size: int | None = None
    """Disk space of the folder in bytes, without git's data about the worktree, which is in the
    repository; null if it was not requested, or cannot be read in time."""
    size_partial: bool = False
    """True if measuring stopped at a limit, or a folder inside cannot be read. The worktree is then
    larger than `size`."""
    obstacles: list[Obstacle] = Field(default_factory=list)
    """The reasons for which a removal would be refused, from a quick check."""
    unlisted: str | None = None
    """Why git cannot list the repository's worktrees. The repository then has only this entry."""
