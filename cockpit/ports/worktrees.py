"""The directory an agent works in, and what git says of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit, newest first wherever several stand together."""

    hash: str
    """Short, as git abbreviates it."""
    subject: str


@dataclass(frozen=True, slots=True)
class GitFacts:
    """What git says of a directory; every field None or empty where git does not know."""

    root: Path | None = None
    branch: str | None = None
    """None when detached."""
    head: str | None = None
    """Full hash; None before the first commit."""
    status: tuple[str, ...] = ()
    """Lines of `git status --porcelain`, at most 200."""
    status_known: bool = True
    """False where asking would have run a program that the repository names."""
    busy: str | None = None
    """A git operation in progress (`rebase`, `merge`, `index.lock 3 s old`), if any."""
    commits: tuple[Commit, ...] = ()
    """Since the asked commit or time; at most 20."""


@dataclass(frozen=True, slots=True)
class Worktree:
    """A checkout made for one job."""

    directory: Path
    branch: str
    created: bool
    """False when it was there already and was adopted."""


class Worktrees(Protocol):
    """Git, asked without locks and without running what a repository names."""

    async def facts(
        self, directory: Path, *, since: datetime | None = None, since_commit: str | None = None
    ) -> GitFacts:
        """Look; never raises for a directory that is no repository (`root` is None then)."""

    async def ensure(self, repository: Path, directory: Path, branch: str, base: str) -> Worktree:
        """Create the worktree, or adopt one that is there on that branch.

        Raises `CockpitError` when the path holds something else or the branch is elsewhere.
        """

    async def busy(self, directory: Path) -> str | None:
        """A git operation in progress there, as `GitFacts.busy`; one process, no more."""

    async def keep_out(self, directory: Path, pattern: str) -> None:
        """Add a pattern to the repository's `info/exclude`. Twice is the same as once."""

    async def known(self, repository: Path, commit: str) -> bool:
        """Whether the repository has this commit."""
