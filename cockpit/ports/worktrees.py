"""Worktrees: the working directories of agents, and their state in git."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit. Lists of commits are newest first."""

    hash: str
    """Short, as git abbreviates it."""
    subject: str


@dataclass(frozen=True, slots=True)
class GitFacts:
    """The state of a directory in git; unknown fields are None or empty."""

    root: Path | None = None
    branch: str | None = None
    """None if HEAD is detached."""
    head: str | None = None
    """Full hash; None before the first commit."""
    status: tuple[str, ...] = ()
    """Lines of `git status --porcelain`, at most 200."""
    status_known: bool = True
    """False if `git status` would have run a program from the repository's settings."""
    busy: str | None = None
    """A git operation in progress (`rebase`, `merge`, `index.lock 3 s old`), if any."""
    commits: tuple[Commit, ...] = ()
    """Commits since the given commit or time; at most 20."""
    committed: tuple[str, ...] = ()
    """Files that differ between the given commit and HEAD, relative to the top of the worktree,
    made safe to show; at most 200."""


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One file that differs from the given commit."""

    path: str
    """Relative to the top of the worktree; made safe to show."""
    added: int | None
    """Lines; None for a binary file."""
    removed: int | None
    """Lines; None for a binary file."""


@dataclass(frozen=True, slots=True)
class Diff:
    """The changes of a worktree since a commit, staged or not."""

    base: str | None = None
    """Full hash of the commit; None before the first commit: then all files are new."""
    files: tuple[ChangedFile, ...] = ()
    untracked: tuple[str, ...] = ()
    """Untracked files, and folders with only untracked files; made safe to show."""
    text: str = ""
    """The output of git. Invalid bytes are replaced; otherwise it is foreign text."""
    cut: bool = False
    """The diff is incomplete."""
    unknown: str | None = None
    """Why there is no diff; all other fields are then empty."""


@dataclass(frozen=True, slots=True)
class Made:
    """The data that cockpit stores about a worktree that it creates."""

    agent: str
    job: str = ""
    at: float = 0.0
    """Unix seconds."""
    base: str = ""
    """The branch that the worktree starts from; empty if it does not start from a branch."""
    commit: str = ""
    """The commit that the worktree starts from."""
    ready: bool = False
    """The worktree's setup succeeded, or there was none."""


@dataclass(frozen=True, slots=True)
class Worktree:
    """A checkout made for one job."""

    directory: Path
    branch: str
    created: bool
    """False if the worktree existed already and was adopted."""
    new_branch: bool = False
    """False if the branch existed already."""
    made: Made | None = None
    """None if cockpit did not create it."""
    unfiltered: tuple[str, ...] = ()
    """Filters of the repository's own configuration, which cockpit did not apply to its files."""


@dataclass(frozen=True, slots=True)
class Tree:
    """The current state of one linked worktree."""

    directory: Path
    repository: Path
    branch: str | None = None
    """None if HEAD is detached."""
    head: str | None = None
    """None before the first commit."""
    made: Made | None = None
    """None if cockpit did not create it."""
    lock: str | None = None
    """The reason for a lock that is not cockpit's; None if there is no such lock."""
    missing: bool = False
    """Its folder does not exist."""
    changed: int | None = 0
    """Files that differ from the commit; None if git would run the repository's programs.
    If the worktree is missing: staged files."""
    overlooked: int = 0
    """Changed files that `git status` does not show (assume-unchanged, skip-worktree)."""
    untracked: int | None = 0
    ignored: tuple[str, ...] = ()
    """Ignored files and folders, without those that are known to exist elsewhere."""
    ignored_bytes: int = 0
    inner: tuple[str, ...] = ()
    """Other repositories inside: initialised submodules, worktrees, clones."""
    modules: tuple[str, ...] = ()
    """Git folders of submodules of this worktree only, with commits that are not pushed."""
    busy: str | None = None
    """Like `GitFacts.busy`."""
    alone: int | None = 0
    """Commits not pushed or merged; None if unknown."""
    behind: int | None = None
    """Commits of the base that the worktree does not have."""
    only_here: int | None = 0
    """Commits and other objects that only the worktree's reflog, references and unfinished
    operations refer to. They are lost with git's folder for the worktree. None if unknown."""


@dataclass(frozen=True, slots=True)
class Removed:
    """The result of removing a worktree."""

    salvage: str | None
    """The reference to the saved content; None if there was nothing to save."""


Objection = Callable[[Path], Awaitable[str | None]]
"""Returns why the folder must not be removed, or None. Called after the folder was renamed."""


class Worktrees(Protocol):
    """Git, called without taking locks and without running programs of a repository's settings."""

    async def facts(
        self, directory: Path, *, since: datetime | None = None, since_commit: str | None = None
    ) -> GitFacts:
        """Return the state of a directory. Outside a repository, `root` is None."""

    async def diff(self, directory: Path, *, since_commit: str | None = None) -> Diff:
        """Return the changes since the commit; if they are unknown, `Diff.unknown` says why."""

    async def home(self, directory: Path) -> Path | None:
        """Return the main checkout of a directory's repository, or the folder of a bare repository.

        None outside a repository.
        """

    async def foresee(self, repository: Path, directory: Path, branch: str, base: str) -> bool:
        """Return whether `ensure` would use an existing branch; creates nothing. Raises like it."""

    async def ensure(
        self,
        repository: Path,
        directory: Path,
        branch: str,
        base: str,
        *,
        agent: str = "",
        job: str = "",
    ) -> Worktree:
        """Create the worktree, or adopt an existing one on that branch.

        Raises `CockpitError` if the path has other content, or the branch is checked out elsewhere.
        """

    async def bring(self, repository: Path, directory: Path, names: tuple[str, ...]) -> list[str]:
        """Copy files that are not in git from the checkout; return the names that were copied.

        Skips names that do not exist, and names that already exist in the worktree. Raises `Failed`
        for a name that leads out of the repository.
        """

    async def set_ready(self, directory: Path) -> None:
        """Record that the worktree's setup succeeded. Idempotent."""

    async def trees(self, repository: Path) -> list[Tree]:
        """Return all linked worktrees; empty if there is no repository."""

    async def examine(self, tree: Tree) -> Tree:
        """Return the worktree with the slow fields added: `inner` and the ignored files."""

    async def salvage(self, tree: Tree, left_out: tuple[str, ...] = ()) -> str | None:
        """Save the commit and all uncommitted changes under one reference; change nothing else.

        Ignored files are saved too, except those in `left_out`. Raises `CockpitError`.
        """

    async def remove(
        self, tree: Tree, objection: Objection, left_out: tuple[str, ...] = ()
    ) -> Removed:
        """Salvage the worktree, then remove it; its branch stays.

        The caller decides which worktrees may be removed. Raises `NotNow`, with the worktree still
        in place, if it changed during the removal or there is an objection.
        """

    async def keep(self, directory: Path, agent: str, label: str) -> str | None:
        """Create a reference to the commit that is checked out; return the reference's name.

        None before the first commit. Raises `CockpitError`.
        """

    async def push(self, directory: Path, branch: str) -> str:
        """Push one branch to its remote, never with force; return the remote's name.

        Raises `Failed` with the command to run by hand.
        """

    async def open_pull_request(self, directory: Path, branch: str, base: str) -> str:
        """Open a pull request for a pushed branch with `gh`; return its URL.

        Raises `ProgramMissing` or `Failed` with the command to run by hand, and `Failed` for a
        branch without commits of its own.
        """

    async def pull_request_by_hand(self, directory: Path, branch: str, base: str) -> str:
        """Return the shell command that opens the pull request; empty if there are no changes."""

    async def busy(self, directory: Path) -> str | None:
        """Return a git operation in progress, like `GitFacts.busy`. Runs one process."""

    async def keep_out(self, directory: Path, pattern: str) -> None:
        """Add a pattern, relative to the directory, to the repository's `info/exclude`.

        Idempotent.
        """

    async def known(self, repository: Path, commit: str) -> bool:
        """Return whether the repository has this commit."""
