"""Remove a worktree without losing anything in it.

First, the worktree's files are saved in a commit, byte for byte, together with the index and the
objects to which only git's files for the worktree (`.git/worktrees/NAME`) refer. A reference keeps
this commit. Then the folder is moved aside, so that programs no longer use it, and compared with
the commit, which is read back. If all files are equal, the folder is deleted; otherwise it is moved
back. Branches are not deleted. The caller decides whether a worktree may be removed.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from cockpit.adapters.git.command import GitCommand
from cockpit.adapters.git.facts import GitFactFinder, real
from cockpit.adapters.git.listing import own_folder
from cockpit.adapters.git.own_state import GitOwnState, OwnState
from cockpit.adapters.git.proof import GitProof
from cockpit.adapters.git.raw_files import (
    LISTING,
    GitPaths,
    RawFiles,
    tree_entries,
)
from cockpit.adapters.git.removal_record import (
    RemovalRecord,
    forget_record,
    new_record,
    read_record,
    write_record,
)
from cockpit.adapters.git.saved_worktree import Saved, WorktreeSaver, require_ok
from cockpit.adapters.git.scratch import scratch
from cockpit.adapters.git.worktree_folders import (
    copy_index,
    delete,
    move_back,
    points_to,
    unregister,
)
from cockpit.core.errors import Failed, NotNow
from cockpit.core.safetext import safe_line
from cockpit.ports.worktrees import Objection, Removed, Tree


class GitRemoval:
    """Saves and removes worktrees."""

    def __init__(self, command: GitCommand, look: GitFactFinder) -> None:
        self.command = command
        self.look = look
        self._raw_files = RawFiles(command)
        self._own = GitOwnState(command)
        self._proof = GitProof(command)
        self._saver = WorktreeSaver(command, self._raw_files, self._own)

    async def salvage(self, tree: Tree, left_out: tuple[str, ...]) -> str | None:
        """Save a worktree; return the new reference, or None if there is nothing to save."""
        async with self._open_git_paths(tree) as git_paths:
            saved = await self._saver.save(tree, git_paths, left_out, whole=False)
            await self._prove_saved(tree, git_paths, saved.reference, saved.commits)
            return saved.reference

    async def remove(self, tree: Tree, objection: Objection, left_out: tuple[str, ...]) -> Removed:
        """Save a worktree, then remove it; see `Worktrees.remove`.

        Finishes an earlier removal that was interrupted, or undoes it and raises `NotNow`.
        """
        async with self._open_git_paths(tree) as git_paths:
            if finished := await self._resume(tree, git_paths):
                return finished
            saved = await self._saver.save(tree, git_paths, left_out, whole=True)
            if tree.missing:
                await self._prove_saved(tree, git_paths, saved.reference, saved.commits)
            else:
                await self._remove_folder(tree, git_paths, saved, left_out, objection)
            await self._unregister(tree, git_paths, saved.reference, saved.state)
        return Removed(saved.reference)

    # An interrupted removal

    async def _resume(self, tree: Tree, git_paths: GitPaths) -> Removed | None:
        """Finish an interrupted removal; return None if no removal was interrupted.

        Raises `NotNow` after moving the folder back, and for a moved folder that is not the
        recorded one or has unsaved files.
        """
        await self._move_back_old(tree, git_paths)
        record = await asyncio.to_thread(read_record, git_paths.folder, tree.directory)
        if record is None:
            return None
        moved = record.folder(tree.directory)
        if not await asyncio.to_thread(os.path.lexists, moved):
            if not (tree.missing and record.deleting):
                return None
        elif not (tree.missing and await asyncio.to_thread(record.is_at, moved)):
            raise _leftover(moved, record, "This is not the folder that the removal moved.")
        elif not record.deleting:
            await asyncio.to_thread(moved.rename, tree.directory)
            await asyncio.to_thread(forget_record, git_paths.folder)
            raise _interrupted(tree)
        else:
            await self._delete_rest(tree, git_paths, record)
        await self._unregister(tree, git_paths, record.reference)
        return Removed(record.reference or None)

    async def _delete_rest(self, tree: Tree, git_paths: GitPaths, record: RemovalRecord) -> None:
        moved = record.folder(tree.directory)
        rest = await self._raw_files.content(git_paths, moved, record.left_out, write=False)
        arguments = (*LISTING, record.reference)
        listed = require_ok(
            tree, await self._raw_files.run(git_paths, git_paths.folder, *arguments)
        )
        saved = dict(tree_entries(listed.output))
        if rest.nested or any(saved.get(name) != entry for name, entry in rest.entries.items()):
            raise _leftover(moved, record, "Some files in this folder were not saved.")
        named = await self.command.run(tree.repository, "rev-parse", "--verify", record.reference)
        await self._prove_saved(
            tree, git_paths, record.reference, (require_ok(tree, named).line,), moved
        )
        await asyncio.to_thread(delete, moved)

    async def _move_back_old(self, tree: Tree, git_paths: GitPaths) -> None:
        """Move back a folder left by an older version of cockpit, which had no records; then raise
        `NotNow`."""
        moved = tree.directory.with_name(f".{tree.directory.name}.removing")
        if tree.missing and await asyncio.to_thread(points_to, moved, git_paths.folder):
            await asyncio.to_thread(moved.rename, tree.directory)
            raise _interrupted(tree)

    # Removal

    async def _remove_folder(
        self,
        tree: Tree,
        git_paths: GitPaths,
        saved: Saved,
        left_out: tuple[str, ...],
        objection: Objection,
    ) -> None:
        reference = saved.reference or ""
        record = await asyncio.to_thread(new_record, tree.directory, reference, left_out)
        moved = record.folder(tree.directory)
        await self._note(tree, git_paths, record)
        await asyncio.to_thread(tree.directory.rename, moved)
        try:
            reason = await objection(moved) or await self._changed(
                tree, git_paths, moved, saved, left_out
            )
            if reason:
                raise NotNow(
                    f"{safe_line(str(tree.directory))} was not removed",
                    reason,
                    f"Nothing is lost, and {saved.reference} contains all of it. Try again.",
                )
            await self._prove_saved(tree, git_paths, saved.reference, saved.commits, moved)
            await self._note(tree, git_paths, replace(record, deleting=True))
        except BaseException:
            await asyncio.to_thread(move_back, moved, tree.directory)
            await asyncio.to_thread(forget_record, git_paths.folder)
            raise
        await asyncio.to_thread(delete, moved)

    async def _changed(
        self, tree: Tree, git_paths: GitPaths, moved: Path, saved: Saved, left_out: tuple[str, ...]
    ) -> str | None:
        now = await self._raw_files.content(git_paths, moved, left_out, write=False)
        state = await self._own.read(tree, git_paths.folder)
        same = now == saved.content and state == saved.state
        return None if same else "The worktree was changed during the removal."

    async def _note(self, tree: Tree, git_paths: GitPaths, record: RemovalRecord) -> None:
        try:
            await asyncio.to_thread(write_record, git_paths.folder, record)
        except OSError as error:
            raise Failed(
                f"{safe_line(str(tree.directory))} was not removed",
                f"Cannot write to {safe_line(str(git_paths.folder))}: {error.strerror}",
                "Nothing was changed. Make the folder writable, then try again.",
            ) from error

    async def _prove_saved(
        self,
        tree: Tree,
        git_paths: GitPaths,
        reference: str | None,
        commits: tuple[str, ...],
        *moved: Path,
    ) -> None:
        """Raise `Failed` unless the repository contains all saved objects, synced to disk.

        Does nothing without a reference.
        """
        if reference:
            to_remove = [tree.directory, git_paths.folder, *moved]
            await self._proof.check(tree, git_paths, reference, commits, to_remove)

    async def _unregister(
        self, tree: Tree, git_paths: GitPaths, reference: str | None, state: OwnState | None = None
    ) -> None:
        """Delete the `.git/worktrees/NAME` of a deleted worktree, as `git worktree prune` would.

        Does not run `git worktree remove`, which would delete a new folder at the path. Raises
        `NotNow` if something exists at the path, or if `.git/worktrees/NAME` no longer matches
        `state`.
        """
        reason = None
        if await asyncio.to_thread(os.path.lexists, tree.directory):
            reason = "Something new exists at the worktree's path, and was not changed."
        elif state is not None and await self._own.read(tree, git_paths.folder) != state:
            reason = "git's files for the worktree have changed, and were not deleted."
        if reason is not None:
            saved = f" {reference} contains all that was removed." if reference else ""
            raise NotNow(
                f"git still lists {safe_line(str(tree.directory))}, but its files are removed",
                f"{reason}{saved}",
                "Check the path, then retry.",
            )
        await asyncio.to_thread(unregister, git_paths.folder)

    @asynccontextmanager
    async def _open_git_paths(self, tree: Tree) -> AsyncIterator[GitPaths]:
        folder = await self._folder(tree)
        async with scratch(self.command.private) as own:
            git_paths = GitPaths(folder, own / "index")
            await asyncio.to_thread(copy_index, git_paths)
            yield git_paths

    async def _folder(self, tree: Tree) -> Path:
        """Return the worktree's `.git/worktrees/NAME`.

        Raises `Failed` if git does not list the worktree, if a part of the result is a symlink, or
        if the worktree's `.git` file does not point to it.
        """
        common = await self.look.common(tree.repository)
        folder = common and await asyncio.to_thread(own_folder, common, tree.directory)
        if folder is None:
            raise Failed(
                f"Not a git worktree: {safe_line(str(tree.directory))}",
                "git does not list this worktree, or cannot find the worktree's repository.",
                f"Check and repair the worktrees: git -C {tree.repository} worktree list; "
                f"git -C {tree.repository} worktree repair",
            )
        if await asyncio.to_thread(real, folder) != folder:
            raise Failed(
                f"git's folder for the worktree {safe_line(str(tree.directory))} is a link",
                f"{safe_line(str(folder))} points to another folder, which is not deleted.",
                "Replace the link with the folder, or remove the worktree manually.",
            )
        if not tree.missing and not await asyncio.to_thread(points_to, tree.directory, folder):
            raise Failed(
                f"{safe_line(str(tree.directory))} has no valid .git file",
                "git cannot list the worktree's changes.",
                f"Repair the worktree: git -C {tree.repository} worktree repair. Or move the "
                "folder elsewhere manually.",
            )
        return folder


def _interrupted(tree: Tree) -> NotNow:
    return NotNow(
        f"An earlier removal of {safe_line(str(tree.directory))} was interrupted",
        "The worktree was moved back.",
        "Check the worktree, then retry.",
    )


def _leftover(moved: Path, record: RemovalRecord, reason: str) -> NotNow:
    return NotNow(
        f"An earlier removal did not finish: {safe_line(str(moved))}",
        f"{reason} Nothing was changed; {record.reference} contains the original worktree.",
        "Check this folder, move it elsewhere, then retry.",
    )
