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
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from cockpit.adapters.files.foreign_files import read_file
from cockpit.adapters.git.command import DURABLE, GitAnswer, GitCommand
from cockpit.adapters.git.commit_refs import MUST_NOT_EXIST, reference_part
from cockpit.adapters.git.facts import GitFactFinder, real
from cockpit.adapters.git.listing import own_folder
from cockpit.adapters.git.own_state import GitOwnState, OwnState, in_groups, index_digest
from cockpit.adapters.git.proof import GitProof
from cockpit.adapters.git.raw_files import (
    GITLINK,
    LISTING,
    Content,
    Entry,
    GitPaths,
    RawFiles,
    not_saved,
    staged,
    tree_entries,
)
from cockpit.adapters.git.removal_record import (
    RemovalRecord,
    forget_record,
    new_record,
    read_record,
    write_record,
)
from cockpit.adapters.git.scratch import scratch
from cockpit.core.errors import Failed, NotNow
from cockpit.core.safetext import safe_line
from cockpit.ports.worktrees import Objection, Removed, Tree

REFERENCES = "refs/cockpit/salvage"
US = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "cockpit"), ("EMAIL", "cockpit@localhost"))
}


@dataclass(frozen=True, slots=True)
class _Saved:
    """The saved state of a worktree."""

    content: Content
    state: OwnState
    reference: str | None
    commits: tuple[str, ...] = ()
    """The commits that were created; the reference points to the last one."""


class GitRemoval:
    """Saves and removes worktrees."""

    def __init__(self, command: GitCommand, look: GitFactFinder) -> None:
        self.command = command
        self.look = look
        self._raw_files = RawFiles(command)
        self._own = GitOwnState(command)
        self._proof = GitProof(command)

    async def salvage(self, tree: Tree, left_out: tuple[str, ...]) -> str | None:
        """Save a worktree; return the new reference, or None if there is neither a commit nor a
        file."""
        async with self._open_git_paths(tree) as git_paths:
            saved = await self._save(tree, git_paths, left_out, whole=False)
            await self._prove_saved(tree, git_paths, saved.reference, saved.commits)
            return saved.reference

    async def remove(self, tree: Tree, objection: Objection, left_out: tuple[str, ...]) -> Removed:
        """See `Worktrees.remove`. Undoes or finishes an earlier removal that was interrupted."""
        async with self._open_git_paths(tree) as git_paths:
            if finished := await self._resume(tree, git_paths):
                return finished
            saved = await self._save(tree, git_paths, left_out, whole=True)
            if tree.missing:
                await self._prove_saved(tree, git_paths, saved.reference, saved.commits)
            else:
                await self._remove_folder(tree, git_paths, saved, left_out, objection)
            await self._unregister(tree, git_paths, saved.reference, saved.state)
        return Removed(saved.reference)

    # An interrupted removal

    async def _resume(self, tree: Tree, git_paths: GitPaths) -> Removed | None:
        """Move back or delete the folder that an interrupted removal left; return None if there is
        no such folder."""
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
        words = (*LISTING, record.reference)
        listed = self._require_ok(
            tree, await self._raw_files.run(git_paths, git_paths.folder, *words)
        )
        saved = dict(tree_entries(listed.output))
        if rest.nested or any(saved.get(name) != entry for name, entry in rest.entries.items()):
            raise _leftover(moved, record, "Some of its files were not saved.")
        named = await self.command.run(tree.repository, "rev-parse", "--verify", record.reference)
        await self._prove_saved(
            tree, git_paths, record.reference, (self._require_ok(tree, named).line,), moved
        )
        await asyncio.to_thread(_delete, moved)

    async def _move_back_old(self, tree: Tree, git_paths: GitPaths) -> None:
        """Move back a folder left by an older version of cockpit, which had no records."""
        moved = tree.directory.with_name(f".{tree.directory.name}.removing")
        if tree.missing and await asyncio.to_thread(_points_to, moved, git_paths.folder):
            await asyncio.to_thread(moved.rename, tree.directory)
            raise _interrupted(tree)

    # Removal

    async def _remove_folder(
        self,
        tree: Tree,
        git_paths: GitPaths,
        saved: _Saved,
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
            await asyncio.to_thread(_move_back, moved, tree.directory)
            await asyncio.to_thread(forget_record, git_paths.folder)
            raise
        await asyncio.to_thread(_delete, moved)

    async def _changed(
        self, tree: Tree, git_paths: GitPaths, moved: Path, saved: _Saved, left_out: tuple[str, ...]
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
                "Nothing was changed.",
            ) from error

    async def _prove_saved(
        self,
        tree: Tree,
        git_paths: GitPaths,
        reference: str | None,
        commits: tuple[str, ...],
        *moved: Path,
    ) -> None:
        """Raise `Failed` unless the repository contains all saved objects, synced to disk."""
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
            raise NotNow(
                f"git still lists {safe_line(str(tree.directory))}, but its files are removed",
                f"{reason} {reference} contains all that was removed.",
                "Check the path, then retry.",
            )
        await asyncio.to_thread(_forget, git_paths.folder)

    # Saving

    async def _save(
        self, tree: Tree, git_paths: GitPaths, left_out: tuple[str, ...], *, whole: bool
    ) -> _Saved:
        """Save the worktree's files in a commit, whose parents are HEAD and the commits for the
        other parts.

        The other parts are the index and the objects to which only `.git/worktrees/NAME` refers.
        With `whole`, raises `Failed` for a nested repository.
        """
        state = await self._own.read(tree, git_paths.folder)
        if await asyncio.to_thread(index_digest, git_paths.index) != state.index:
            raise NotNow(
                f"{safe_line(str(tree.directory))} was not removed",
                "Files were staged in it just now.",
                "Try again.",
            )
        made: list[str] = []
        content = Content({})
        if not tree.missing:
            content = await self._raw_files.content(git_paths, tree.directory, left_out, write=True)
        if whole and content.nested:
            names = ", ".join(safe_line(os.fsdecode(name), 80) for name in content.nested[:5])
            raise not_saved(tree.directory, f"It contains other repositories: {names}.")
        head = "" if tree.head is None else await self._tree_of(tree)
        files = head
        if not tree.missing:
            below = await self._not_checked_out(tree, git_paths, content)
            files = await self._raw_files.tree(
                git_paths, content.entries, below=below, nested=content.nested, where=tree.directory
            )
        parents = [] if tree.head is None else [tree.head]
        for staged_tree, what in await self._staged(tree, git_paths, (head, files)):
            words = f"{what} in {tree.directory.name}"
            base = parents[:1] if tree.head else []
            parents.append(await self._commit(tree, git_paths, staged_tree, base, words))
            made.append(parents[-1])
        if (own := await self._own_commit(tree, git_paths, state)) is not None:
            parents.append(own)
            made.append(own)
        commit = tree.head
        if (parents or not tree.missing) and (parents, files) != ([tree.head], head):
            words = safe_line(f"Everything in the worktree {tree.directory.name}")
            files = files or await self._raw_files.tree(git_paths, {})
            commit = await self._commit(tree, git_paths, files, parents, words)
        made += [commit] if commit is not None else []
        return _Saved(content, state, await self._create_reference(tree, commit), tuple(made))

    async def _staged(
        self, tree: Tree, git_paths: GitPaths, known: tuple[str, str]
    ) -> list[tuple[str, str]]:
        """Return the trees of the index that differ from the known trees."""
        if not await asyncio.to_thread(git_paths.index.exists):
            return []
        empty = await self._raw_files.tree(git_paths, {})
        found = await self._own.staged(git_paths)
        return [one for one in found if one[0] not in (*known, empty)]

    async def _own_commit(self, tree: Tree, git_paths: GitPaths, state: OwnState) -> str | None:
        """Write a commit with the files of `.git/worktrees/NAME`; its parents are the commits to
        which only these files refer."""
        only = await self._own.only_there(tree, git_paths.folder, state)
        if not (only.commits or only.objects or state.busy):
            return None
        files = await self._raw_files.tree(
            git_paths, await self._own.entries(git_paths, state, only)
        )
        words = f"Git state of the worktree {tree.directory.name} ({only.count} commits only there)"
        last: list[str] = []
        for some in in_groups(only.commits):
            last = [await self._commit(tree, git_paths, files, [*last, *some], safe_line(words))]
        return last[0] if last else await self._commit(tree, git_paths, files, [], safe_line(words))

    async def _not_checked_out(
        self, tree: Tree, git_paths: GitPaths, content: Content
    ) -> dict[bytes, Entry]:
        """Return entries of the index that may be missing in the folder: sparse files and empty
        submodules.
        """
        words = ("ls-files", "-t", "--stage", "-z")
        answer = self._require_ok(
            tree, await self._raw_files.run(git_paths, git_paths.folder, *words)
        )
        listed = [one for one in staged(answer.output) if one[2] == 0]
        there = {*content.entries, *content.nested}

        def is_folder(name: bytes) -> bool:
            return (tree.directory / os.fsdecode(name)).is_dir()

        def absent() -> dict[bytes, Entry]:
            return {
                name: entry
                for name, tag, _, entry in listed
                if name not in there and (tag == "S" or (entry[0] == GITLINK and is_folder(name)))
            }

        return await asyncio.to_thread(absent)

    async def _commit(
        self, tree: Tree, git_paths: GitPaths, files: str, parents: list[str], words: str
    ) -> str:
        named = [word for parent in parents for word in ("-p", parent)]
        answer = await self.command.run(
            git_paths.folder,
            *("commit-tree", *named, "-m", words, files),
            deadline=60.0,
            settings=DURABLE,
            variables=US,
            folder=git_paths.folder,
        )
        return self._require_ok(tree, answer).line

    async def _tree_of(self, tree: Tree) -> str:
        words = ("rev-parse", "--verify", "-q", f"{tree.head}^{{tree}}")
        return self._require_ok(tree, await self.command.run(tree.repository, *words)).line

    async def _create_reference(self, tree: Tree, commit: str | None) -> str | None:
        """Create a new reference to the commit; its name contains the owner and the time."""
        if commit is None:
            return None
        agent = reference_part(tree.made.agent if tree.made else "")
        stem = f"{REFERENCES}/{agent}/{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        for name in (stem, *(f"{stem}-{number}" for number in range(2, 100))):
            words = ("update-ref", name, commit, MUST_NOT_EXIST)
            answer = await self.command.run(tree.repository, *words, settings=DURABLE)
            if answer.ok:
                return name
        raise Failed(
            f"Cannot save {safe_line(str(tree.directory))}",
            answer.error,
            "Nothing was removed.",
        )

    def _require_ok(self, tree: Tree, answer: GitAnswer) -> GitAnswer:
        if not answer.ok:
            raise Failed(
                f"Cannot save {safe_line(str(tree.directory))}",
                answer.error,
                "Nothing was removed.",
            )
        return answer

    @asynccontextmanager
    async def _open_git_paths(self, tree: Tree) -> AsyncIterator[GitPaths]:
        folder = await self._folder(tree)
        async with scratch(self.command.private) as own:
            git_paths = GitPaths(folder, own / "index")
            await asyncio.to_thread(_copy_index, git_paths)
            yield git_paths

    async def _folder(self, tree: Tree) -> Path:
        """Return the worktree's `.git/worktrees/NAME`.

        Raises `Failed` unless the worktree's `.git` file points to it.
        """
        common = await self.look.common(tree.repository)
        folder = common and await asyncio.to_thread(own_folder, common, tree.directory)
        if folder is None:
            raise Failed(
                f"Not a git worktree: {safe_line(str(tree.directory))}",
                "git does not list this worktree, or cannot find the worktree's repository.",
                f"git -C {tree.repository} worktree list; git -C {tree.repository} worktree repair",
            )
        if await asyncio.to_thread(real, folder) != folder:
            raise Failed(
                f"git's folder for the worktree {safe_line(str(tree.directory))} is a link",
                f"{safe_line(str(folder))} points to another folder, which is not deleted.",
                "Replace the link with the folder, or remove the worktree manually.",
            )
        if not tree.missing and not await asyncio.to_thread(_points_to, tree.directory, folder):
            raise Failed(
                f"{safe_line(str(tree.directory))} has lost its .git file",
                "git cannot list its changes.",
                f"git -C {tree.repository} worktree repair, or move the folder elsewhere manually.",
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


def _points_to(directory: Path, folder: Path) -> bool:
    """Return whether the `.git` of a worktree is a file that points to this git directory."""
    try:
        text = read_file(directory / ".git", 8192, follow_links=False)
    except OSError:
        return False
    named = os.fsdecode(text).strip().removeprefix("gitdir:").strip()
    return real(directory / named) == real(folder)


def _move_back(moved: Path, directory: Path) -> None:
    try:
        moved.rename(directory)
    except OSError as error:
        raise Failed(
            f"Cannot move {safe_line(str(directory))} back after a failed removal",
            f"{error.strerror}. All its files are in {safe_line(str(moved))}.",
            f"Move it back: mv {safe_line(str(moved))} {safe_line(str(directory))}",
        ) from error


def _copy_index(git_paths: GitPaths) -> None:
    with suppress(FileNotFoundError):
        shutil.copy2(git_paths.folder / "index", git_paths.index)


def _forget(folder: Path) -> None:
    """Delete a worktree's `.git/worktrees/NAME`; after a crash, `git worktree prune` deletes the
    rest."""
    try:
        for name in ("locked", "gitdir"):
            (folder / name).unlink(missing_ok=True)
        shutil.rmtree(folder)
        with suppress(OSError):  # the folder now belongs to another worktree
            folder.parent.rmdir()
    except OSError as error:
        raise Failed(
            f"Cannot delete git's files for the worktree: {safe_line(str(folder))}",
            f"{error.strerror}: {safe_line(str(error.filename))}",
            "The worktree's files are removed. Run: git worktree prune",
        ) from error


def _delete(folder: Path) -> None:
    """Delete a folder and its contents, including read-only folders; follows no links."""

    def allow(function: object, path: str, _: object) -> None:
        Path(path).parent.chmod(0o700)
        target = Path(path)
        if target.is_dir() and not target.is_symlink():
            target.chmod(0o700)
            shutil.rmtree(target)
        else:
            target.unlink(missing_ok=True)

    if not os.path.lexists(folder):
        return
    try:
        shutil.rmtree(folder, onerror=allow)
    except OSError as error:
        raise Failed(
            f"Cannot delete all of {safe_line(str(folder))}",
            f"{error.strerror}: {safe_line(str(error.filename))}",
            "All of it is saved in git; delete the rest manually.",
        ) from error
