"""Implement `ports.worktrees.Worktrees` with git.

`facts.py` looks up facts. `creation.py` creates worktrees, `listing.py` lists them, and
`removal.py` removes them. None of them uses `git reset`, `git clean` or `--force`.
"""

from __future__ import annotations

import asyncio
import errno
import os
import re
import stat
from collections.abc import Mapping
from datetime import datetime
from io import FileIO
from pathlib import Path

from cockpit.adapters.clock import SystemClock
from cockpit.adapters.git.command import GitCommand
from cockpit.adapters.git.commit_refs import GitCommitRefs
from cockpit.adapters.git.copied_files import bring
from cockpit.adapters.git.creation import GitWorktrees
from cockpit.adapters.git.diff import GitDiff
from cockpit.adapters.git.facts import GitFactFinder
from cockpit.adapters.git.listing import GitListing
from cockpit.adapters.git.push import GitPush
from cockpit.adapters.git.removal import GitRemoval
from cockpit.adapters.git.restore import GitRestore
from cockpit.core.errors import BadUsage, Failed
from cockpit.core.exclusion import escaped
from cockpit.ports.clock import Clock
from cockpit.ports.worktrees import Diff, GitFacts, Objection, Removed, Tree, Worktree

LARGEST_EXCLUDE = 4_000_000
"""Maximum bytes of git's `info/exclude`."""


class Git:
    """Runs git in any repository of this machine. Safe to use from many tasks at once."""

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        *,
        program: str = "git",
        clock: Clock | None = None,
        private: Path | None = None,
    ) -> None:
        """`private` is a folder that only cockpit writes to, for temporary files of git calls."""
        own = os.environ if environment is None else environment
        self.command = GitCommand(own, program, private)
        self.look = GitFactFinder(self.command, clock or SystemClock())
        self._making = GitWorktrees(self.command, self.look)
        self._trees = GitListing(self.command, self.look)
        self._removal = GitRemoval(self.command, self.look)
        self._push = GitPush(self.command)
        self._keeping = GitCommitRefs(self.command, self.look)
        self._excluding = asyncio.Lock()

    async def facts(
        self, directory: Path, *, since: datetime | None = None, since_commit: str | None = None
    ) -> GitFacts:
        """Return facts about a directory, with the commits since `since_commit`.

        If the repository does not have that commit, the commits are those since the time `since`.
        """
        return await self.look.facts(directory, since=since, since_commit=since_commit)

    async def diff(self, directory: Path, *, since_commit: str | None = None) -> Diff:
        return await GitDiff(self.look).of(directory, since_commit)

    async def busy(self, directory: Path) -> str | None:
        return await self.look.busy(directory)

    async def reachable(self, repository: Path, commit: str) -> bool:
        return await self.look.reachable(repository, commit)

    async def unpushed(self, directory: Path) -> tuple[str, ...] | None:
        return await self.look.unpushed(directory)

    async def known(self, repository: Path, commit: str) -> bool:
        return await self.look.known(repository, commit)

    async def home(self, directory: Path) -> Path | None:
        return await self._making.home(directory)

    async def foresee(self, repository: Path, directory: Path, branch: str, base: str) -> bool:
        return await self._making.foresee(repository, directory, branch, base)

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
        """Create or adopt a worktree; see `GitWorktrees.ensure`. Both paths are absolute; "" as
        `base` means HEAD."""
        return await self._making.ensure(repository, directory, branch, base, agent, job)

    async def create_empty(
        self, repository: Path, directory: Path, branch: str, commit: str, agent: str
    ) -> Worktree:
        """Create a worktree without files; see `GitWorktrees.create_empty`."""
        return await self._making.create_empty(repository, directory, branch, commit, agent)

    async def bring(self, repository: Path, directory: Path, names: tuple[str, ...]) -> list[str]:
        return await asyncio.to_thread(bring, repository, directory, names)

    async def set_ready(self, directory: Path) -> None:
        await self._making.set_ready(directory)

    async def trees(self, repository: Path) -> list[Tree]:
        return await self._trees.all_of(repository)

    async def examine(self, tree: Tree) -> Tree:
        return await self._trees.examine(tree)

    async def salvage(self, tree: Tree, left_out: tuple[str, ...] = ()) -> str | None:
        return await self._removal.salvage(tree, left_out)

    async def remove(
        self, tree: Tree, objection: Objection, left_out: tuple[str, ...] = ()
    ) -> Removed:
        return await self._removal.remove(tree, objection, left_out)

    async def restore(self, repository: Path, reference: str, folder: Path) -> int:
        """Write the files of a commit to a folder; see `GitRestore.restore`."""
        return await GitRestore(self.command).restore(repository, reference, folder)

    async def keep(self, directory: Path, agent: str, label: str) -> str | None:
        return await self._keeping.keep(directory, agent, label)

    async def push(self, directory: Path, branch: str) -> str:
        return await self._push.push(directory, branch)

    async def open_pull_request(self, directory: Path, branch: str, base: str) -> str:
        return await self._push.open_pull_request(directory, branch, base)

    async def pull_request_by_hand(self, directory: Path, branch: str, base: str) -> str:
        return await self._push.pull_request_by_hand(directory, branch, base)

    async def keep_out(self, directory: Path, pattern: str) -> None:
        """Add a pattern, relative to the directory, to the `info/exclude` that all worktrees share.

        Idempotent; does nothing outside a repository. Raises `BadUsage` for an empty pattern or one
        with a line break, and `Failed` if the file cannot be written.
        """
        if not pattern or re.search(r"[\0\r\n]", pattern):
            raise BadUsage(
                f"{pattern!a} is not a valid line of info/exclude",
                hint="Set handoff.directory to a path without line breaks.",
            )
        answer = await self.command.run(directory, "rev-parse", "--git-path", "info/exclude")
        prefix = await self.command.run(directory, "rev-parse", "--show-prefix")
        if answer.ok:
            if prefix.ok and prefix.line and pattern.startswith("/"):
                pattern = f"/{escaped(prefix.line)}{pattern[1:]}"
            async with self._excluding:
                await asyncio.to_thread(exclude, directory / answer.line, pattern)


def exclude(path: Path, pattern: str) -> None:
    """Add a line to an exclude file, unless the file already contains it. Raises `Failed`.

    The other lines, the mode and the owner stay unchanged.
    """
    try:
        path.parent.mkdir(exist_ok=True)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags, 0o666), "r+b", buffering=0) as file:
            _add_line(path, file, os.fsencode(pattern))
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Failed(
                f"{path} is a link",
                "cockpit does not follow the link.",
                "Replace the link with a file.",
            ) from error
        raise Failed(
            f"Cannot write {path}",
            str(error.strerror),
            hint="Make the repository's git directory writable.",
        ) from error


def _add_line(path: Path, file: FileIO, line: bytes) -> None:
    entry = os.fstat(file.fileno())
    if not stat.S_ISREG(entry.st_mode):
        raise Failed(
            f"{path} is not a file",
            "Nothing was written to this path.",
            "Replace what is at the path with a file.",
        )
    if entry.st_size > LARGEST_EXCLUDE:
        raise Failed(
            f"{path} is larger than {LARGEST_EXCLUDE // 1_000_000} MB",
            "cockpit does not read a file of this size.",
            hint="Shorten the file, then try again.",
        )
    file.seek(0)
    content = file.read(LARGEST_EXCLUDE)
    if line not in content.splitlines():
        between = b"\n" if content and not content.endswith(b"\n") else b""
        file.write(between + line + b"\n")
