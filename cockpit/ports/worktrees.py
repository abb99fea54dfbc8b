"""Worktrees: the working directories of agents, and their state in git."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Protocol

from cockpit.core.deferred_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit. Lists of commits are newest first."""

    hash: str
    """The commit's hash, abbreviated by git."""
    subject: str


@dataclass(frozen=True, slots=True)
class GitFacts:
    """The state of a directory in git; unknown fields are None or empty."""

    root: Path | None = None
    branch: str | None = None
    """The current branch; None if HEAD is detached, or outside a repository."""
    head: str | None = None
    """Full hash of the current commit; None before the first commit, or outside a repository."""
    status: tuple[str, ...] = ()
    """Lines of `git status --porcelain`, at most 200."""
    status_known: bool = True
    """False if git failed, or if cockpit did not run `git status` because git would have run a
    program that the repository configures."""
    problem: str = ""
    """Why git could not be asked about the directory; all other fields are then unknown. Empty if
    git answered."""
    busy: str | None = None
    """A git operation in progress (`rebase`, `merge`, `index.lock 3 s old`), if any."""
    commits: tuple[Commit, ...] = ()
    """Commits since the commit or time that was passed to `Worktrees.facts`; at most 20."""
    upstream: str | None = None
    """The current branch's upstream, such as `origin/main`; None without one, or if HEAD is
    detached."""
    ahead: int | None = None
    """Number of commits that the upstream branch does not have; None without an upstream branch, or
    if that branch no longer exists."""
    behind: int | None = None
    """Number of commits that only the upstream branch has; None as for `ahead`."""
    committed: tuple[str, ...] = ()
    """Files that differ between HEAD and the commit that was passed to `Worktrees.facts`, relative
    to the top of the worktree, made safe to show; at most 200."""


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One file of a `Diff` that differs from the commit `Diff.base`."""

    path: str
    """Path of the file, relative to the top folder of the worktree, made safe to show; `OLD → NEW`
    for a renamed file."""
    added: int | None
    """Number of added lines; None for a binary file."""
    removed: int | None
    """Number of removed lines; None for a binary file."""


@dataclass(frozen=True, slots=True)
class Diff:
    """The changes of a worktree since a commit, staged or not."""

    base: str | None = None
    """Hash of the commit that the files are compared with; None before the first commit, when all
    files are new."""
    files: tuple[ChangedFile, ...] = ()
    untracked: tuple[str, ...] = ()
    """Untracked files, and folders with only untracked files; made safe to show."""
    text: str = ""
    """The output of `git diff`. The text is untrusted; only invalid bytes are replaced."""
    cut: bool = False
    """Whether the diff is incomplete, because it is too large."""
    unknown: str | None = None
    """Why there is no diff; all other fields are then empty."""


@dataclass(frozen=True, slots=True)
class Made:
    """The data that cockpit stores about a worktree that cockpit creates."""

    agent: str
    job: str = ""
    at: float = 0.0
    """When the worktree was created, in unix seconds."""
    base: str = ""
    """The branch that the worktree starts from; empty if it does not start from a branch."""
    commit: str = ""
    """The commit that the worktree starts from."""
    ready: bool = False
    """Whether the worktree's setup succeeded, or there was none."""


@dataclass(frozen=True, slots=True)
class Worktree:
    """The worktree of one agent, which cockpit created or adopted."""

    directory: Path
    branch: str
    created: bool
    """Whether cockpit created the worktree; False if cockpit adopted an existing one."""
    new_branch: bool = False
    """Whether cockpit created the branch; False for an existing branch."""
    made: Made | None = None
    """cockpit's data about the worktree; None if cockpit did not create the worktree."""
    unfiltered: tuple[str, ...] = ()
    """Git filters that the repository configures, and that cockpit did not apply to the worktree's
    files."""


@dataclass(frozen=True, slots=True)
class Tree:
    """The current state of one linked worktree."""

    directory: Path
    repository: Path
    branch: str | None = None
    """The current branch; None if HEAD is detached."""
    head: str | None = None
    """Hash of the current commit; None before the first commit."""
    made: Made | None = None
    """cockpit's data about the worktree; None if cockpit did not create the worktree."""
    lock: str | None = None
    """The reason of a lock that cockpit did not set; empty for a lock without a reason. None if
    there is no such lock."""
    missing: bool = False
    """Whether the worktree's folder does not exist."""
    changed: int | None = 0
    """Number of files that differ from the current commit; None if unknown, as when git would have
    to run programs that the repository configures. If `missing`: number of staged files."""
    overlooked: int = 0
    """Number of changed files that `git status` does not show (assume-unchanged, skip-worktree)."""
    untracked: int | None = 0
    ignored: tuple[str, ...] = ()
    """Ignored files and folders, except handoff documents. After `Worktrees.examine`, also except
    files that are the same in the main checkout."""
    ignored_sizes: tuple[int, ...] = ()
    """Bytes of each file and folder of `ignored`, in the same order; empty before
    `Worktrees.examine`."""
    inner: tuple[str, ...] = ()
    """Other repositories inside the worktree: initialised submodules, worktrees, clones. Empty
    before `Worktrees.examine`."""
    modules: tuple[str, ...] = ()
    """Git directories of submodules that have unpushed commits, or whose commits git cannot count.
    Removing the worktree would delete these directories."""
    busy: str | None = None
    """The git operation in progress, as in `GitFacts.busy`."""
    alone: int | None = 0
    """Number of commits not pushed or merged; None if unknown."""
    behind: int | None = None
    """Number of commits of the base branch that the worktree does not have; None if unknown."""
    only_here: int | None = 0
    """Number of commits and other objects that only the worktree's own reflog, references and
    unfinished operations refer to. Removing the worktree loses these objects. None if unknown."""


@dataclass(frozen=True, slots=True)
class Removed:
    """The result of removing a worktree."""

    salvage: str | None
    """The git reference to the saved content; None if there was nothing to save."""


Objection = Callable[[Path], Awaitable[str | None]]
"""Returns why a worktree's folder must not be removed, or None. Called after the folder was
renamed."""


class Worktrees(Protocol):
    """Git operations on worktrees.

    Queries take no locks. No operation runs a program that the repository configures.
    """

    async def facts(
        self, directory: Path, *, since: datetime | None = None, since_commit: str | None = None
    ) -> GitFacts:
        """Return the state of a directory. Outside a repository, `root` is None.

        `GitFacts.commits` are those after `since_commit`; if the repository does not have that
        commit, those after the time `since`.
        """

    async def diff(self, directory: Path, *, since_commit: str | None = None) -> Diff:
        """Return the changes since `since_commit`, else since HEAD.

        HEAD is used if `since_commit` is None, or if the repository does not have that commit. If
        the changes are unknown, `Diff.unknown` says why.
        """

    async def home(self, directory: Path) -> Path | None:
        """Return the main checkout of a directory's repository, or the folder of a bare repository.

        None outside a repository.
        """

    async def foresee(self, repository: Path, directory: Path, branch: str, base: str) -> bool:
        """Return whether `ensure` would use an existing branch.

        Creates nothing. Raises the errors that `ensure` raises before creating anything.
        """

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
        """Create the worktree, or adopt an existing worktree on `branch`.

        A new branch starts at `base`, any commit; empty means HEAD. Raises `CockpitError`, for
        example if the path has other content, or the branch is checked out elsewhere.
        """

    async def bring(self, repository: Path, directory: Path, names: tuple[str, ...]) -> list[str]:
        """Copy files and folders that are not in git from `repository` to the worktree `directory`.

        Returns the copied names. Skips names that do not exist, and names that already exist in the
        worktree. Raises `Failed` for a name that leads out of the repository or into a git
        directory, and if copying fails.
        """

    async def set_ready(self, directory: Path) -> None:
        """Record that the worktree's setup succeeded. Idempotent."""

    async def trees(self, repository: Path) -> list[Tree]:
        """Return all linked worktrees; empty if there is no repository.

        Raises `Failed` if git cannot list them.
        """

    async def examine(self, tree: Tree) -> Tree:
        """Return the worktree with the fields that take time: `inner`, `ignored`, `ignored_sizes`.

        If the worktree's folder is missing, returns the worktree unchanged.
        """

    async def salvage(self, tree: Tree, left_out: tuple[str, ...] = ()) -> str | None:
        """Save the commit and all uncommitted changes under one git reference.

        Returns the reference's name; None if there is neither a commit nor a file. Ignored files
        are saved too, except those in `left_out`. Changes nothing else. Raises `CockpitError`.
        """

    async def remove(
        self, tree: Tree, objection: Objection, left_out: tuple[str, ...] = ()
    ) -> Removed:
        """Save the worktree's content as `salvage` does, then remove the worktree but not the
        branch.

        The caller decides which worktrees may be removed. Raises `NotNow`, with the worktree still
        in place, if the worktree changed during the removal, or `objection` returns a reason.
        """

    async def keep(self, directory: Path, agent: str, label: str) -> str | None:
        """Create a reference to the current commit of the directory; return the reference's name.

        An existing reference stays on its commit. None before the first commit, and outside a
        repository. Raises `CockpitError`.
        """

    async def push(self, directory: Path, branch: str) -> str:
        """Push one branch to its remote, never with force; return the remote's name.

        Raises `Failed`; the error has the command for the user to run instead.
        """

    async def open_pull_request(self, directory: Path, branch: str, base: str) -> str:
        """Open a pull request for a pushed branch with `gh`; return its URL.

        Raises `ProgramMissing` or `Failed`; the error has the command for the user to run instead.
        Raises `Failed` for a branch without commits of its own.
        """

    async def pull_request_by_hand(self, directory: Path, branch: str, base: str) -> str:
        """Return the shell command that opens the pull request.

        Empty if the branch has no new commits.
        """

    async def busy(self, directory: Path) -> str | None:
        """Return the git operation in progress, as in `GitFacts.busy`. Runs one process.

        None if there is none, or if git does not answer.
        """

    async def keep_out(self, directory: Path, pattern: str) -> None:
        """Add a pattern, relative to the directory, to the repository's `info/exclude`.

        Idempotent; does nothing outside a repository. Raises `BadUsage` for an invalid pattern, and
        `Failed` if the file cannot be written.
        """

    async def reachable(self, repository: Path, commit: str) -> bool:
        """Return whether HEAD, a local branch or a remote branch has the commit.

        The old version of an amended commit is not reachable.
        """
        ...

    async def unpushed(self, directory: Path) -> tuple[str, ...] | None:
        """Return the hashes of the newest unpushed commits, at most `UNPUSHED_READ`.

        A commit is unpushed if HEAD or a local branch has the commit, but no remote branch. None if
        there is no remote branch, or git fails.
        """

    async def known(self, repository: Path, commit: str) -> bool:
        """Return whether the repository has this commit, even if no branch has it."""
