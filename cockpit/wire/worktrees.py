"""`GET /v1/worktrees` and `cockpit worktrees --json`: each linked worktree, as it is now.

Absent is null, never a made-up zero. Names may be added, never changed.
"""

from __future__ import annotations

from pydantic import Field

from cockpit.wire.status import State, Wire


class Obstacle(Wire):
    """Why a worktree would not be removed."""

    why: str
    next: str
    """What the user may do about it."""
    salvageable: bool = False
    """`--salvage` keeps it, so that it is no obstacle any more."""


class WorktreeStatus(Wire):
    directory: str
    host: str | None = None
    """The other machine that it is on; null on its own."""
    repository: str
    branch: str | None = None
    """Null when detached."""
    head: str | None = None
    agent: str | None = None
    """Whose it is: the agent that works or worked there, or that it was made for."""
    state: State | None = None
    """Of that agent, if there is a row of it."""
    made: bool
    """cockpit has made it; others it never removes."""
    made_at: str | None = None
    missing: bool = False
    changed: int | None = None
    """Files that differ; null where git would run the repository's programs."""
    overlooked: int = 0
    """Those of them that git was told not to look at: `git status` does not name them."""
    untracked: int | None = None
    ignored: list[str] = Field(default_factory=list)
    alone: int | None = None
    """Commits on no remote and not in its base."""
    behind: int | None = None
    """Commits of its base that it does not have."""
    only_here: int | None = 0
    """Commits that only its own log and references name, and that would go with it."""
    busy: str | None = None
    lock: str | None = None
    """Why somebody else has locked it."""
    obstacles: list[Obstacle] = Field(default_factory=list)
    """Why `remove` would refuse, as far as a quick look tells."""
    unlisted: str | None = None
    """Why git cannot list the worktrees of this repository; this stands in their place."""
