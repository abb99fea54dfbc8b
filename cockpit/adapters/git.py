"""Worktrees: `ports.worktrees.Worktrees` over real git.

Creates worktrees and adopts them; never removes, resets, cleans or forces. What git says of a
directory is looked up in `git_look`.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from cockpit.adapters.clock import SystemClock
from cockpit.adapters.git_command import GitAnswer, GitCommand
from cockpit.adapters.git_diff import GitDiff
from cockpit.adapters.git_look import GitLook
from cockpit.adapters.private_file import write_private
from cockpit.core.errors import BadUsage, Failed
from cockpit.core.safetext import safe_line
from cockpit.ports.clock import Clock
from cockpit.ports.worktrees import Diff, GitFacts, Worktree

CHECKOUT_DEADLINE = 300.0
"""Seconds to fill a new worktree: a large one on a slow disk takes minutes."""


class Git:
    """Every repository of this machine. Safe to use from many tasks at once."""

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        *,
        program: str = "git",
        clock: Clock | None = None,
    ) -> None:
        self.command = GitCommand(os.environ if environment is None else environment, program)
        self.look = GitLook(self.command, clock or SystemClock())
        self._excluding = asyncio.Lock()

    async def facts(
        self, directory: Path, *, since: datetime | None = None, since_commit: str | None = None
    ) -> GitFacts:
        """Commits since the commit if it is known here, else since the time, else none."""
        return await self.look.facts(directory, since=since, since_commit=since_commit)

    async def diff(self, directory: Path, *, since_commit: str | None = None) -> Diff:
        return await GitDiff(self.look).of(directory, since_commit)

    async def busy(self, directory: Path) -> str | None:
        return await self.look.busy(directory)

    async def known(self, repository: Path, commit: str) -> bool:
        return await self.look.known(repository, commit)

    async def ensure(self, repository: Path, directory: Path, branch: str, base: str) -> Worktree:
        """An empty folder at the path is filled. `base` is any commit; empty means HEAD.

        Both paths are absolute.
        """
        await self._check_branch(repository, branch)
        if await self._occupied(directory):
            await self._check_adoptable(repository, directory, branch)
            return Worktree(directory, branch, created=False)
        if await self._exists(repository, branch):
            await self._check_free(repository, branch)
            answer = await self._add(repository, str(directory), branch)
        else:
            start = await self._commit(repository, base or "HEAD")
            answer = await self._add(repository, "--no-track", "-b", branch, str(directory), start)
        if not answer.ok:
            raise Failed(
                f"The worktree {safe_line(str(directory))} could not be made",
                answer.error,
                "If the folder was deleted by hand: git worktree prune.",
            )
        return Worktree(directory, branch, created=True)

    async def keep_out(self, directory: Path, pattern: str) -> None:
        """For a worktree this is the main repository's file. Nothing where there is no repository.

        Raises `BadUsage` for a pattern of more than one line, `Failed` when it cannot be written.
        """
        if not pattern or re.search(r"[\0\r\n]", pattern):
            raise BadUsage(f"{pattern!a} cannot be a line of info/exclude")
        answer = await self.command.run(directory, "rev-parse", "--git-path", "info/exclude")
        if answer.ok:
            async with self._excluding:
                await asyncio.to_thread(exclude, directory / answer.line, pattern)

    async def _check_branch(self, repository: Path, branch: str) -> None:
        # A leading dash is a valid reference and an invalid branch: it would be an option.
        valid = not branch.startswith("-") and (
            await self.command.run(repository, "check-ref-format", f"refs/heads/{branch}")
        )
        if not valid or not valid.ok:
            raise BadUsage(
                f"{branch!a} cannot be the name of a branch",
                hint="Change branch or work_item under [agents.worktree].",
            )

    async def _occupied(self, directory: Path) -> bool:
        def look() -> bool:
            if not os.path.lexists(directory):
                return False
            return not directory.is_dir() or any(directory.iterdir())

        try:
            return await asyncio.to_thread(look)
        except OSError as error:
            raise Failed(f"{directory} cannot be read", str(error.strerror)) from error

    async def _check_adoptable(self, repository: Path, directory: Path, branch: str) -> None:
        """Raises `Failed` unless the folder is a worktree of this repository on this branch."""
        shown = safe_line(str(directory))
        if not await self._ours(repository, directory):
            raise Failed(
                f"{shown} is there already and is no worktree of this repository",
                hint="Move it away, or choose another directory under [agents.worktree].",
            )
        current = await self.look.branch(directory)
        if current != branch:
            on = f"branch {safe_line(current)}" if current else "no branch"
            raise Failed(
                f"The worktree {shown} is on {on}, not on {safe_line(branch)}",
                hint=f"git -C {shown} switch {safe_line(branch)}",
            )

    async def _ours(self, repository: Path, directory: Path) -> bool:
        """Whether a worktree of this repository begins at the directory."""
        if not await asyncio.to_thread(directory.is_dir):
            return False
        common = await self.look.common(directory)
        return (
            common is not None
            and common == await self.look.common(repository)
            and await self.look.is_top(directory)
        )

    async def _exists(self, repository: Path, branch: str) -> bool:
        name = f"refs/heads/{branch}"
        return (await self.command.run(repository, "show-ref", "--verify", "--quiet", name)).ok

    async def _check_free(self, repository: Path, branch: str) -> None:
        """Raises `Failed` when another worktree has the branch."""
        answer = await self.command.run(repository, "worktree", "list", "--porcelain")
        for block in os.fsdecode(answer.output).split("\n\n"):
            lines = block.split("\n")
            if f"branch refs/heads/{branch}" in lines:
                where = safe_line(lines[0].removeprefix("worktree "))
                raise Failed(
                    f"The branch {safe_line(branch)} is checked out elsewhere",
                    where,
                    "Use another branch, or remove that worktree"
                    " (git worktree prune, if its folder is gone).",
                )

    async def _commit(self, repository: Path, base: str) -> str:
        answer = await self.command.run(
            repository, "rev-parse", "--verify", "-q", "--end-of-options", f"{base}^{{commit}}"
        )
        if answer.ok:
            return answer.line
        if await self.look.head(repository) is None:
            inside = await self.look.git_folder(repository)
            raise Failed(
                "There is nothing to make a worktree of",
                "The repository has no commit yet." if inside else "This is no git repository.",
                "Make a first commit." if inside else "git init, and a first commit.",
            )
        raise Failed(
            f"There is no commit {safe_line(base)!a} to begin at",
            hint="Set base under [agents.worktree] to a branch that exists.",
        )

    async def _add(self, repository: Path, *arguments: str) -> GitAnswer:
        return await self.command.run(
            repository, "worktree", "add", "--quiet", *arguments, deadline=CHECKOUT_DEADLINE
        )


def exclude(path: Path, pattern: str) -> None:
    """Add a line to an exclude file unless it is there. Raises `Failed`."""
    line = os.fsencode(pattern)
    try:
        path.parent.mkdir(exist_ok=True)
        if path.is_symlink():
            raise Failed(f"{path} is a link", "It is not followed.", "Make it a file of its own.")
        content = path.read_bytes() if path.exists() else b""
        if line in content.splitlines():
            return
        if content and not content.endswith(b"\n"):
            content += b"\n"
        write_private(path, content + line + b"\n")
    except OSError as error:
        raise Failed(f"{path} cannot be written", str(error.strerror)) from error
