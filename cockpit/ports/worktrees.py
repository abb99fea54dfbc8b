"""The directory an agent works in, and what git says of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
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
    committed: tuple[str, ...] = ()
    """Files that differ between the asked commit and HEAD, from the top of the worktree, made safe
    to show; at most 200."""


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One file that differs from the commit that was asked about."""

    path: str
    """Made safe to show; from the top of the worktree."""
    added: int | None
    """Lines; None for what is not text."""
    removed: int | None


@dataclass(frozen=True, slots=True)
class Diff:
    """How a worktree differs from a commit, staged or not."""

    base: str | None = None
    """The commit, in full; None before the first one, where everything is new."""
    files: tuple[ChangedFile, ...] = ()
    untracked: tuple[str, ...] = ()
    """Files that git does not know, and folders with nothing but such; made safe to show."""
    text: str = ""
    """As git writes it, bytes that are no text replaced; otherwise foreign and untouched."""
    cut: bool = False
    """There is more than is said here."""
    unknown: str | None = None
    """Why it could not be asked; everything else is empty then."""


@dataclass(frozen=True, slots=True)
class Home:
    """The repository that a directory belongs to, as far as worktrees of it are concerned."""

    root: Path
    """Of the main checkout; of a bare repository, the folder that holds it all."""
    bare: bool = False
    within: Path = Path()
    """Where the directory is inside its checkout."""


@dataclass(frozen=True, slots=True)
class Made:
    """What was written down of a worktree when it was made."""

    agent: str
    job: str = ""
    at: float = 0.0
    """Unix seconds."""
    base: str = ""
    """The branch that it was to begin at; empty where that was no branch."""
    commit: str = ""
    """The commit that it began at."""
    ready: bool = False
    """Its setup went well, or there was none to do."""


@dataclass(frozen=True, slots=True)
class Worktree:
    """A checkout made for one job."""

    directory: Path
    branch: str
    created: bool
    """False when it was there already and was adopted."""
    new_branch: bool = False
    """False when the branch was there already and was taken up."""
    made: Made | None = None
    """None for one that somebody else has made."""
    unfiltered: tuple[str, ...] = ()
    """Filters of the repository's own configuration that its files were not put through."""


@dataclass(frozen=True, slots=True)
class Tree:
    """One linked worktree of a repository, as it is now."""

    directory: Path
    repository: Path
    branch: str | None = None
    """None when detached."""
    head: str | None = None
    """None before the first commit."""
    made: Made | None = None
    """None for one that cockpit has not made."""
    lock: str | None = None
    """Why somebody else has locked it; None when nobody has."""
    missing: bool = False
    """Its folder is gone."""
    changed: int | None = 0
    """Files that differ from the commit; None where asking would run the repository's programs.
    Of one that is missing: files that are staged."""
    overlooked: int = 0
    """Those of them that git was told not to look at (assume-unchanged, skip-worktree)."""
    untracked: int | None = 0
    ignored: tuple[str, ...] = ()
    """Files and folders that git ignores and that are not known to be elsewhere too."""
    ignored_bytes: int = 0
    inner: tuple[str, ...] = ()
    """Other repositories inside: submodules that are filled, worktrees, clones."""
    modules: tuple[str, ...] = ()
    """Where git keeps submodules of this worktree only, with commits that are on no remote."""
    busy: str | None = None
    """As `GitFacts.busy`."""
    alone: int | None = 0
    """Commits on no remote and not in its base; None where that could not be asked."""
    behind: int | None = None
    """Commits of its base that it does not have."""
    only_here: int | None = 0
    """Commits and other objects that only its own log, references and half-done operations name:
    they go with git's folder for it. None where that could not be asked."""


@dataclass(frozen=True, slots=True)
class Removed:
    """What became of a worktree that was to be removed."""

    salvage: str | None
    """The reference that holds all of it; None where there was nothing to hold."""


Objection = Callable[[Path], Awaitable[str | None]]
"""Why what lies there must not be removed after all; asked once nobody can get in any more."""


class Worktrees(Protocol):
    """Git, asked without locks and without running what a repository names."""

    async def facts(
        self, directory: Path, *, since: datetime | None = None, since_commit: str | None = None
    ) -> GitFacts:
        """Look; never raises for a directory that is no repository (`root` is None then)."""

    async def diff(self, directory: Path, *, since_commit: str | None = None) -> Diff:
        """What was changed there since the commit; where that cannot be said, why."""

    async def home(self, directory: Path) -> Home | None:
        """The repository of a directory; None where there is none."""

    async def foresee(self, repository: Path, directory: Path, branch: str, base: str) -> bool:
        """Whether `ensure` would take up a branch that is there already; raises as it would.

        Nothing is made.
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
        """Create the worktree, or adopt one that is there on that branch.

        Raises `CockpitError` when the path holds something else or the branch is elsewhere.
        """

    async def bring(self, repository: Path, directory: Path, names: tuple[str, ...]) -> list[str]:
        """Copy files that git does not have from one checkout to the other; what was not there.

        Nothing is overwritten. Raises `Failed` for a name that leads out of the repository.
        """

    async def set_ready(self, directory: Path) -> None:
        """Write down that the worktree's setup went well. Twice is as once."""

    async def trees(self, repository: Path) -> list[Tree]:
        """Every linked worktree; none where there is no repository."""

    async def examine(self, tree: Tree) -> Tree:
        """The same, with what takes longer to find out: `inner`, and what is ignored."""

    async def salvage(self, tree: Tree, left_out: tuple[str, ...] = ()) -> str | None:
        """Keep its commit and everything uncommitted as one reference; changes nothing else.

        Ignored files are kept too, except those in `left_out`. Raises `CockpitError`.
        """

    async def remove(
        self, tree: Tree, objection: Objection, left_out: tuple[str, ...] = ()
    ) -> Removed:
        """Salvage the worktree, then take it away; its branch stays.

        What is refused is for the caller to decide. Raises `NotNow`, with the worktree where it
        was, if it changed meanwhile or there is an objection at the last moment.
        """

    async def keep(self, directory: Path, agent: str, label: str) -> str | None:
        """Keep the commit that is checked out by a reference, which never moves; answers its name.

        None before the first commit. Raises `CockpitError`.
        """

    async def push(self, directory: Path, branch: str) -> str:
        """Push one branch to its remote, never by force; answers the remote's name.

        Raises `Failed` with the command to run by hand.
        """

    async def open_pull_request(self, directory: Path, branch: str, base: str) -> str:
        """Open one for a branch that is pushed, by the `gh` program; answers its address.

        Raises `ProgramMissing` or `Failed` with the command to run by hand, and `Failed` for a
        branch without commits of its own.
        """

    async def pull_request_by_hand(self, directory: Path, branch: str, base: str) -> str:
        """How the user opens it by hand, for a shell; empty where there is nothing to propose."""

    async def busy(self, directory: Path) -> str | None:
        """A git operation in progress there, as `GitFacts.busy`; one process, no more."""

    async def keep_out(self, directory: Path, pattern: str) -> None:
        """Add a pattern, seen from the directory, to the repository's `info/exclude`.

        Twice is the same as once.
        """

    async def known(self, repository: Path, commit: str) -> bool:
        """Whether the repository has this commit."""
