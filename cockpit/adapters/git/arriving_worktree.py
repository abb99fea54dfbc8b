"""Receive a worktree from another machine: check its bundle, and restore files and index exactly.

The bundle is not trusted: git verifies the bundle and checks each object before storing it. One
reference, below `refs/cockpit/moved`, keeps the bundle's commits. No file or worktree is
overwritten. An existing branch is only fast-forwarded, and set back if the worktree cannot be
restored.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from contextlib import suppress
from pathlib import Path

from cockpit.adapters.git.command import DURABLE, GitAnswer
from cockpit.adapters.git.commit_refs import MUST_NOT_EXIST
from cockpit.adapters.git.leaving_worktree import TIPS, LeavingWorktree, same_files
from cockpit.adapters.git.raw_files import GitPaths, RawFiles
from cockpit.adapters.git.restore import GitRestore
from cockpit.adapters.git.scratch import scratch
from cockpit.adapters.git.worktree_list import registered
from cockpit.adapters.git.worktrees import Git
from cockpit.config.same_paths import same_path
from cockpit.core.errors import CockpitError, Failed
from cockpit.core.moved_worktree import OBJECT, REFERENCES, Parcel
from cockpit.core.safetext import safe_line

DEADLINE = 600.0
LARGEST_HEADER = 1_000_000
"""Maximum bytes of a bundle's text before its pack."""
SPARE = 50_000_000
"""Bytes that must be free on the disk in addition to three times the bundle's size."""


class ArrivingWorktree:
    """Receives worktrees into one repository on this machine."""

    def __init__(self, git: Git, repository: Path) -> None:
        self._git = git
        self._command = git.command
        self._raw_files = RawFiles(git.command)
        self.repository = repository

    async def tips(self) -> list[str]:
        """Return at most `TIPS` commits that the sender can leave out because this repository has
        them, newest first."""
        arguments = ("--sort=-committerdate", f"--count={TIPS}", "--format=%(objectname)")
        answer = await self._command.run(
            self.repository, "for-each-ref", *arguments, "refs/heads", "refs/remotes", REFERENCES
        )
        return answer.output.decode("ascii", "replace").split() if answer.ok else []

    async def has(self, commit: str) -> bool:
        return bool(OBJECT.fullmatch(commit)) and await self._git.known(self.repository, commit)

    async def check_branch(self, branch: str, head: str) -> None:
        """Raise `Failed` if the branch is checked out, or cannot be fast-forwarded to `head`.

        While the commit `head` has not arrived, only the first condition is checked.
        """
        at = await self.branch_commit(branch)
        if at is None:
            return
        if (worktree := await self._checkout_of(branch)) is not None:
            raise Failed(
                f"The branch {safe_line(branch)} is checked out on the other machine",
                safe_line(worktree),
                "Use another branch (--branch NAME), or check out another branch in that folder.",
            )
        arguments = ("merge-base", "--is-ancestor", at, head)
        if await self.has(head) and not (await self._command.run(self.repository, *arguments)).ok:
            raise Failed(
                f"The branch {safe_line(branch)} exists on the other machine, with other commits",
                f"The branch is at {at[:12]}, which is not part of the job's history.",
                "Nothing was overwritten. Use another branch: --branch NAME",
            )

    async def receive(self, bundle: Path, parcel: Parcel) -> None:
        """Store the bundle's objects, and create the parcel's reference. Raises `Failed`."""
        if not parcel.is_valid:
            raise Failed(
                "The other machine sent an invalid description of its worktree",
                "A hash or a reference has the wrong format.",
                "Nothing was changed. Use the same version of cockpit on both machines.",
            )
        size = (await asyncio.to_thread(bundle.stat)).st_size
        free = (await asyncio.to_thread(shutil.disk_usage, self.repository)).free
        if free < 3 * size + SPARE:
            raise Failed(
                "Not enough disk space for the worktree",
                f"{free // 1_000_000} MB free on the disk of {safe_line(str(self.repository))}.",
                "Free some space on the other machine, then try again.",
            )
        heads = self._ok(
            await self._command.run(self.repository, "bundle", "list-heads", str(bundle))
        )
        if heads.output.decode("utf-8", "replace").split() != [parcel.commit, parcel.reference]:
            raise _refused("The bundle's references differ from the announced references.")
        self._ok(
            await self._command.run(
                self.repository, "bundle", "verify", "-q", str(bundle), deadline=DEADLINE
            )
        )
        await self._index_pack(bundle, size)
        await self._check_commits(parcel)
        arguments = ("update-ref", parcel.reference, parcel.commit, MUST_NOT_EXIST)
        self._ok(await self._command.run(self.repository, *arguments, settings=DURABLE))

    async def _index_pack(self, bundle: Path, size: int) -> None:
        """Make git check each object, and store the pack only if all are valid."""
        source = await asyncio.to_thread(_open_pack, bundle)
        try:
            answer = await self._command.run(
                self.repository,
                *("index-pack", "--strict", "--stdin", "--fix-thin", f"--max-input-size={size}"),
                settings=DURABLE,
                deadline=DEADLINE,
                source=source,
            )
        finally:
            os.close(source)
        self._ok(answer)

    async def _check_commits(self, parcel: Parcel) -> None:
        arguments = ("rev-list", "--objects", "--quiet", parcel.commit, "--not", "--all")
        self._ok(await self._command.run(self.repository, *arguments, deadline=DEADLINE))
        state = parcel.state
        format_ = ("log", "-1", "--no-show-signature", "--format=%T %P")
        top = self._ok(await self._command.run(self.repository, *format_, parcel.commit))
        files, *parents = top.line.split()
        if files != state.files or len(parents) != 2 or parents[0] != state.head:
            raise _refused("The bundle's commits differ from the announced commits.")
        index = self._ok(await self._command.run(self.repository, *format_, parents[1]))
        if index.line.split() != [state.staged, state.head]:
            raise _refused("The bundle's commits differ from the announced commits.")

    async def restore(self, parcel: Parcel, directory: Path, branch: str, agent: str) -> bool:
        """Create the worktree with the sent files and index; return whether its branch is new.

        If the worktree cannot be created exactly, it is removed again. Raises `CockpitError`.
        """
        await self.check_branch(branch, parcel.state.head)
        before = await self.branch_commit(branch)
        if before is not None and before != parcel.state.head:
            arguments = ("update-ref", f"refs/heads/{branch}", parcel.state.head, before)
            self._ok(await self._command.run(self.repository, *arguments, settings=DURABLE))
        try:
            made = await self._git.create_empty(
                self.repository, directory, branch, parcel.state.head, agent
            )
        except CockpitError:
            await self._move_back(parcel, branch, before)
            raise
        try:
            await GitRestore(self._command).restore(self.repository, parcel.commit, directory)
            self._ok(await self._command.run(directory, "read-tree", parcel.state.staged))
            await self._verify(parcel, directory)
        except BaseException:
            await self._remove_arrived(parcel, directory, branch, new_branch=made.new_branch)
            await self._move_back(parcel, branch, before)
            raise
        return made.new_branch

    async def _move_back(self, parcel: Parcel, branch: str, before: str | None) -> None:
        """Set an existing branch back to `before`, its commit before `restore`, unless the branch
        has moved since `restore`."""
        if before is not None and before != parcel.state.head:
            arguments = ("update-ref", f"refs/heads/{branch}", before, parcel.state.head)
            await self._command.run(self.repository, *arguments, settings=DURABLE)

    async def _verify(self, parcel: Parcel, directory: Path) -> None:
        """Compare every file and the index with the state that the sender reported. Raises
        `Failed`."""
        places = await self._command.places(directory)
        assert places is not None
        async with scratch(self._command.private) as own:
            git_paths = GitPaths(places.folder, own / "index")
            await asyncio.to_thread(shutil.copy2, places.folder / "index", git_paths.index)
            index = await self._raw_files.run(git_paths, places.folder, "write-tree")
            content = await self._raw_files.content(git_paths, directory, write=False)
            same = not content.nested and await same_files(
                self._raw_files, git_paths, parcel.state.files, content.entries
            )
        if not same or not index.ok or index.line != parcel.state.staged:
            raise Failed(
                f"{safe_line(str(directory))} differs from the worktree that was sent",
                "A file or the index has different content after it was restored.",
                "The worktree was removed again. Check whether the disk changes names or modes.",
            )

    async def discard(
        self,
        parcel: Parcel,
        directory: Path,
        branch: str,
        *,
        new: bool,
        before: str | None = None,
    ) -> str:
        """Remove the worktree if it is exactly as it arrived; otherwise return why it was kept.

        Returns "" if the worktree was removed or does not exist. In both cases, a `new` branch is
        deleted, and an existing branch is set back to `before`, its commit before the move. A
        branch that has other commits now, or that a worktree has checked out, is not changed. The
        parcel's reference always keeps the worktree's commits. Idempotent.
        """
        if not await asyncio.to_thread(os.path.lexists, directory):
            await self._put_back(parcel, branch, before, new=new)
            return ""
        try:
            state = await LeavingWorktree(self._git, directory).state()
        except CockpitError as error:
            return str(error)
        if state != parcel.state:
            return "its files have changed since it arrived"
        trees = await self._git.trees(self.repository)
        tree = next(
            (worktree for worktree in trees if same_path(worktree.directory, directory)), None
        )
        if tree is None:
            return "git does not list it as a worktree"
        try:
            await self._git.remove(tree, _no_check)  # saves ignored files under a reference
        except CockpitError as error:
            return str(error)
        await self._put_back(parcel, branch, before, new=new)
        return ""

    async def _put_back(
        self, parcel: Parcel, branch: str, before: str | None, *, new: bool
    ) -> None:
        """Delete a new branch, or set an existing branch back to `before`, its commit before the
        move.

        Does not change a branch that a worktree has checked out.
        """
        if await self._checkout_of(branch) is None:
            await self._drop_branch(parcel, branch, new_branch=new)
            await self._move_back(parcel, branch, None if new else before)

    async def _checkout_of(self, branch: str) -> str | None:
        """Return the path of the worktree that has the branch checked out; None without one."""
        for fields in await registered(self._command, self.repository):
            if fields.get("branch") == f"refs/heads/{branch}":
                return fields["worktree"]
        return None

    async def _remove_arrived(
        self, parcel: Parcel, directory: Path, branch: str, *, new_branch: bool
    ) -> None:
        """Remove the worktree that `restore` created, and its branch if the branch is new. The
        parcel's reference keeps the content."""
        arguments = ("worktree", "remove", "--force", "--force", str(directory))
        await self._command.run(self.repository, *arguments, deadline=DEADLINE)
        await self._drop_branch(parcel, branch, new_branch=new_branch)

    async def _drop_branch(self, parcel: Parcel, branch: str, *, new_branch: bool) -> None:
        if new_branch:
            drop = ("update-ref", "-d", f"refs/heads/{branch}", parcel.state.head)
            await self._command.run(self.repository, *drop, settings=DURABLE)

    async def branch_commit(self, branch: str) -> str | None:
        """Return the branch's commit; None if there is no such branch."""
        arguments = (
            "rev-parse",
            "--verify",
            "-q",
            "--end-of-options",
            f"refs/heads/{branch}^{{commit}}",
        )
        answer = await self._command.run(self.repository, *arguments)
        return answer.line if answer.ok else None

    def _ok(self, answer: GitAnswer) -> GitAnswer:
        if not answer.ok:
            raise _refused(answer.error)
        return answer


async def _no_check(_: Path) -> None:
    return None


def _refused(why: str) -> Failed:
    return Failed(
        "The work that arrived was not accepted",
        why,
        "No branch and no file was changed on the other machine. Try again.",
    )


def _open_pack(bundle: Path) -> int:
    """Open the bundle, and skip the text before its pack. Raises `Failed`."""
    source = os.open(bundle, os.O_RDONLY | os.O_CLOEXEC)
    try:
        head = b""
        while b"\n\n" not in head and len(head) < LARGEST_HEADER:
            some = os.read(source, 65536)
            if not some:
                break
            head += some
        end = head.find(b"\n\n")
        if end < 0 or not head.startswith(b"# v"):
            raise _refused("The file is not a git bundle.")
        os.lseek(source, end + 2, os.SEEK_SET)
    except BaseException:
        with suppress(OSError):
            os.close(source)
        raise
    return source
