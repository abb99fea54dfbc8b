"""Look up facts about a directory with git, without locks and without running any of the
repository's programs.

A fact that cannot be looked up in this way is unknown. Changes nothing.
"""

from __future__ import annotations

import asyncio
import os
import re
from datetime import UTC, datetime
from pathlib import Path

from cockpit.adapters.git.command import GitCommand
from cockpit.adapters.git.filters import repository_filters
from cockpit.core.errors import CockpitError, ProgramMissing
from cockpit.core.safetext import safe_line
from cockpit.core.session_commits import UNPUSHED_READ
from cockpit.ports.clock import Clock
from cockpit.ports.worktrees import Commit, GitFacts

HASH = re.compile(r"[0-9a-f]{4,64}")
STATUS_LINES = 200
COMMITS = 20
FILES = 200
NAMES = 64 * 1024
"""Maximum bytes that are read of git's list of changed files."""
OPERATIONS = {
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisect",
}
_TRACK = re.compile(rb"(ahead|behind) (\d+)")
LOCKS = ("index.lock", "HEAD.lock")


class GitFactFinder:
    """Looks up the branch, status, commits and other facts of a directory."""

    def __init__(self, command: GitCommand, clock: Clock) -> None:
        self.command = command
        self._clock = clock

    async def facts(
        self, directory: Path, *, since: datetime | None = None, since_commit: str | None = None
    ) -> GitFacts:
        """Return the facts about a directory; unknown facts are None or empty. Raises only
        `ProgramMissing`.

        The commits are those since `since_commit`; if the repository does not have that commit,
        those since the time `since`.
        """
        try:
            places = await self.command.places(directory)
            if places is None or places.top is None:
                return GitFacts()
            head, branch, (known, status), folder, commits = await asyncio.gather(
                self.head(directory),
                self.branch(directory),
                self._status(directory),
                self.git_folder(directory),
                self._commits(directory, since, since_commit),
            )
            committed, (upstream, ahead, behind) = await asyncio.gather(
                self._compare_trees(directory, since_commit), self._upstream(directory)
            )
        except ProgramMissing:
            raise
        except CockpitError as error:
            problem = ": ".join(filter(None, (error.title, error.detail)))
            return GitFacts(status_known=False, problem=safe_line(problem, 300))
        return GitFacts(
            root=places.top,
            branch=safe_line(branch) if branch else None,
            head=head,
            status=status,
            status_known=known,
            busy=self._busy(folder),
            commits=commits,
            upstream=upstream,
            ahead=ahead,
            behind=behind,
            committed=committed,
        )

    async def known(self, repository: Path, commit: str) -> bool:
        if not HASH.fullmatch(commit):
            return False
        name = f"{commit}^{{commit}}"
        return (await self.command.run(repository, "cat-file", "-e", name)).ok

    async def reachable(self, repository: Path, commit: str) -> bool:
        """Return whether HEAD or a branch contains the commit; False for an unknown commit."""
        if not await self.known(repository, commit):
            return False
        if (await self.command.run(repository, "merge-base", "--is-ancestor", commit, "HEAD")).ok:
            return True
        branches = ("refs/heads", "refs/remotes")
        answer = await self.command.run(
            repository, "for-each-ref", "--count=1", f"--contains={commit}", *branches
        )
        return answer.ok and bool(answer.output.strip())

    async def unpushed(self, directory: Path) -> tuple[str, ...] | None:
        """Return the hashes of the newest commits that are on HEAD or a local branch, but on no
        remote branch.

        At most `UNPUSHED_READ`. None if there is no remote branch, or git fails.
        """
        remote = await self.command.run(directory, "for-each-ref", "--count=1", "refs/remotes")
        if not remote.ok or not remote.output.strip():
            return None
        most = f"--max-count={UNPUSHED_READ}"
        answer = await self.command.run(
            directory, "log", most, "--format=%H", "HEAD", "--branches", "--not", "--remotes", "--"
        )
        return tuple(answer.output.decode("ascii", "replace").split()) if answer.ok else None

    async def _upstream(self, directory: Path) -> tuple[str | None, int | None, int | None]:
        """Return the upstream of the directory's branch, and how many commits the branch is ahead
        and behind; None for each unknown value."""
        branch = await self.branch(directory)
        if branch is None:
            return None, None, None
        form = "--format=%(upstream:short)%00%(upstream:track,nobracket)"
        answer = await self.command.run(directory, "for-each-ref", form, f"refs/heads/{branch}")
        name, _, track = (
            answer.output.strip(b"\n").partition(b"\0") if answer.ok else (b"", b"", b"")
        )
        if not name:
            return None, None, None
        shown = safe_line(name.decode("utf-8", "replace"), 250)
        if track == b"gone":
            return shown, None, None
        counts = {word: int(number) for word, number in _TRACK.findall(track)}
        return shown, counts.get(b"ahead", 0), counts.get(b"behind", 0)

    async def head(self, directory: Path) -> str | None:
        """Return the full hash of HEAD; None before the first commit and outside a repository."""
        answer = await self.command.run(directory, "rev-parse", "--verify", "-q", "HEAD")
        return answer.line if answer.ok else None

    async def branch(self, directory: Path) -> str | None:
        """Return the name of the checked-out branch; None if HEAD is detached, and outside a
        repository."""
        answer = await self.command.run(directory, "symbolic-ref", "-q", "HEAD")
        return answer.line.removeprefix("refs/heads/") if answer.ok else None

    async def _status(self, directory: Path) -> tuple[bool, tuple[str, ...]]:
        """Return whether the status is known, and at most `STATUS_LINES` of its lines."""
        if await self.names_programs(directory):
            return False, ()
        answer = await self.command.run(
            directory,
            "status",
            "--porcelain",
            "-z",
            "--no-renames",
            "--untracked-files=normal",
            # Otherwise git would start a git call in each submodule, with the submodule's settings.
            "--ignore-submodules=dirty",
            deadline=30.0,
        )
        if not answer.ok:
            return False, ()
        entries = answer.output.split(b"\0")[:-1][:STATUS_LINES]
        return True, tuple(safe_line(entry.decode("utf-8", "replace"), 500) for entry in entries)

    async def names_programs(self, directory: Path) -> bool:
        """Return whether the repository's own configuration defines filters, which are programs.

        cockpit does not run such filters. Without the filters, git could report unchanged files as
        modified.
        """
        return bool(await repository_filters(self.command, directory))

    async def git_folder(self, directory: Path) -> Path | None:
        """Return the git directory of the worktree that contains a directory; None outside a
        repository."""
        places = await self.command.places(directory)
        return places.folder if places else None

    async def _commits(
        self, directory: Path, since: datetime | None, since_commit: str | None
    ) -> tuple[Commit, ...]:
        """Return at most `COMMITS` commits since `since_commit`, or since the time `since`.

        The time is used if this repository does not have `since_commit`. Empty without a usable
        `since_commit` or `since`.
        """
        if since_commit and await self.known(directory, since_commit):
            bounds = [f"{since_commit}..HEAD"]
        elif since is not None:
            bounds = [f"--since={since.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}", "HEAD"]
        else:
            return ()
        answer = await self.command.run(
            directory, "log", "-z", f"--max-count={COMMITS}", "--format=%h%x00%s", *bounds, "--"
        )
        if not answer.ok:
            return ()
        fields = [safe_line(part.decode("utf-8", "replace")) for part in answer.output.split(b"\0")]
        return tuple(Commit(*pair) for pair in zip(fields[::2], fields[1::2], strict=False))

    async def _compare_trees(self, directory: Path, since_commit: str | None) -> tuple[str, ...]:
        """Return at most `FILES` files that differ between `since_commit` and HEAD.

        Empty if this repository does not have `since_commit`. Reads only git objects, so that no
        filter of the repository runs.
        """
        if since_commit is None or not await self.known(directory, since_commit):
            return ()
        answer = await self.command.run_limited(
            directory,
            *("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-relative"),
            *(since_commit, "HEAD", "--"),
            most=NAMES,
        )
        if not answer.ok:
            return ()
        # The part after the last NUL is empty, or a truncated name.
        names = answer.output.split(b"\0")[:-1][:FILES]
        return tuple(safe_line(name.decode("utf-8", "replace"), 500) for name in names)

    async def busy(self, directory: Path) -> str | None:
        """Return the git operations in progress and git's lock files, separated by commas; None if
        there are none, or if git fails."""
        try:
            return self._busy(await self.git_folder(directory))
        except CockpitError:
            return None

    def _busy(self, folder: Path | None) -> str | None:
        if folder is None:
            return None
        operations = [word for name, word in OPERATIONS.items() if (folder / name).exists()]
        for name in LOCKS:
            try:
                made = (folder / name).lstat().st_mtime
            except OSError:
                continue
            operations.append(f"{name} {max(0, round(self._clock.now().timestamp() - made))} s old")
        return ", ".join(operations) or None

    async def is_top(self, directory: Path) -> bool:
        """Return whether the directory is the top folder of a worktree."""
        places = await self.command.places(directory)
        return bool(places and places.top and real(places.top) == real(directory))

    async def common(self, directory: Path) -> Path | None:
        """Return the git directory that all worktrees of the repository share; None outside a
        repository."""
        places = await self.command.places(directory)
        return places.common if places else None


def real(path: Path) -> Path:
    """Return the path with all symlinks resolved."""
    return Path(os.path.realpath(path))
