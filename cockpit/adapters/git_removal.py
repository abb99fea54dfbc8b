"""Taking a worktree away so that nothing in it can be lost.

First everything is put into a commit of its own, by an index of its own, and a reference keeps it.
Then the folder is moved aside, so that nobody gets in any more, and compared with that commit.
Only what is the same is deleted; what is not is put back. Branches stay. Whether a worktree may
be removed at all is decided by the caller.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cockpit.adapters.git_command import QUIET, GitAnswer, GitCommand
from cockpit.adapters.git_filters import own_filters, without
from cockpit.adapters.git_keeping import NOBODY, reference_part
from cockpit.adapters.git_look import GitLook
from cockpit.adapters.git_overlooked import LISTING, commands
from cockpit.core.errors import Failed, NotNow
from cockpit.core.safetext import safe_line
from cockpit.ports.worktrees import Objection, Removed, Tree

DEADLINE = 300.0
REFERENCES = "refs/cockpit/salvage"
US = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "cockpit"), ("EMAIL", "cockpit@localhost"))
}
AS_IT_IS = {
    **QUIET,
    "core.autocrlf": "false",
    "core.safecrlf": "false",
    "core.bigFileThreshold": "64m",
    "core.sparseCheckout": "false",
    "core.ignoreStat": "false",
    "core.trustctime": "true",
    "core.checkStat": "default",
}
"""Content goes in as it lies there, as far as attributes let it; no file is passed over."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """What was put away of a worktree."""

    tree: str | None
    """The hash of all its files; None for one whose folder is gone."""
    reference: str | None


class GitRemoval:
    """Salvages and removes one worktree at a time."""

    def __init__(self, command: GitCommand, look: GitLook) -> None:
        self.command = command
        self.look = look

    async def salvage(self, tree: Tree, left_out: tuple[str, ...]) -> str | None:
        """The reference that holds it now; None where there is neither commit nor file."""
        if tree.missing:
            return await self._refer(tree, tree.head)
        folder = await self._folder(tree)
        try:
            return (await self._keep(tree, folder, left_out)).reference
        finally:
            await asyncio.to_thread(_forget_index, folder)

    async def remove(self, tree: Tree, objection: Objection, left_out: tuple[str, ...]) -> Removed:
        """See `ports.worktrees`. A removal that was cut off is undone first."""
        aside = tree.directory.with_name(f".{tree.directory.name}.removing")
        if tree.missing and await asyncio.to_thread(os.path.lexists, aside):
            await asyncio.to_thread(aside.rename, tree.directory)
            raise NotNow(
                f"An earlier removal of {safe_line(str(tree.directory))} was cut off",
                "The worktree was put back where it was.",
                "Look at it, and remove it again.",
            )
        if tree.missing:
            kept = await self._refer(tree, tree.head)
            await self._unregister(tree)
            return Removed(kept)
        folder = await self._folder(tree)
        try:
            kept_as = await self._keep(tree, folder, left_out)
            await self._take_away(tree, folder, aside, kept_as, left_out, objection)
        finally:
            await asyncio.to_thread(_forget_index, folder)
        return Removed(kept_as.reference)

    async def _take_away(
        self,
        tree: Tree,
        folder: Path,
        aside: Path,
        kept: _Kept,
        left_out: tuple[str, ...],
        objection: Objection,
    ) -> None:
        # What lies there while the worktree is where it should be was done with long ago.
        await asyncio.to_thread(_delete, aside)
        await asyncio.to_thread(tree.directory.rename, aside)
        try:
            why = await objection(aside)
            if not why and await self._written(tree, folder, aside, left_out) != kept.tree:
                why = "It was changed while it was being removed."
            if why:
                raise NotNow(
                    f"{safe_line(str(tree.directory))} was not removed",
                    why,
                    f"Nothing is lost; what was there is in {kept.reference} too. Try again.",
                )
            await self._unregister(tree)
        except BaseException:
            await asyncio.to_thread(aside.rename, tree.directory)
            raise
        await asyncio.to_thread(_delete, aside)

    async def _unregister(self, tree: Tree) -> None:
        """git forgets a worktree whose folder is not there; it would refuse one that is."""
        where = str(tree.directory)
        await self.command.run(tree.repository, "worktree", "unlock", where)
        answer = await self.command.run(tree.repository, "worktree", "remove", where)
        if not answer.ok:
            raise Failed(f"git does not forget the worktree {safe_line(where)}", answer.error)

    # Keeping

    async def _keep(self, tree: Tree, folder: Path, left_out: tuple[str, ...]) -> _Kept:
        """All of it as one commit with the commit it is on, and the index, as its parents."""
        await asyncio.to_thread(_copy_index, folder)
        filters = await own_filters(self.command, tree.directory)
        staged = await self._git(folder, tree.directory, "write-tree")
        files = await self._written(tree, folder, tree.directory, left_out)
        head = "" if tree.head is None else await self._tree_of(tree)
        parents = [] if tree.head is None else [tree.head]
        if staged.ok and staged.line not in (head, files):
            words = f"Staged in {tree.directory.name}"
            parents.append(await self._commit(tree, folder, staged.line, parents, words))
        if files == head and len(parents) == 1:
            return _Kept(files, await self._refer(tree, tree.head))
        note = f" (not put through: {', '.join(filters)})" if filters else ""
        words = safe_line(f"Everything in the worktree {tree.directory.name}{note}")
        commit = await self._commit(tree, folder, files, parents, words)
        return _Kept(files, await self._refer(tree, commit))

    async def _written(
        self, tree: Tree, folder: Path, where: Path, left_out: tuple[str, ...]
    ) -> str:
        """The hash of all files as they are now, ignored ones too."""
        await self._unhide(tree, folder, where)
        but = [f":(exclude,top,literal){name.rstrip('/')}" for name in left_out]
        added = await self._git(folder, where, "add", "--all", "--force", "--", ".", *but)
        written = await self._git(folder, where, "write-tree")
        if not (added.ok and written.ok):
            raise Failed(
                f"Not everything in {safe_line(str(tree.directory))} can be kept",
                added.error or written.error,
                "So nothing was removed. Move that away, and try again.",
            )
        return written.line

    async def _unhide(self, tree: Tree, folder: Path, where: Path) -> None:
        """Have git look at files that it was told to take for unchanged, or to leave alone.

        One that is not checked out at all, as in a sparse checkout, stays as the index has it.
        """
        listed = await self._git(folder, where, *LISTING)
        self._held(tree, listed)
        told = await asyncio.to_thread(lambda: list(commands(listed.output, where)))
        for words in told:
            self._held(tree, await self._git(folder, where, *words))

    async def _git(self, folder: Path, where: Path, *words: str) -> GitAnswer:
        """Git on the worktree's files, wherever they lie, with an index of its own."""
        filters = without(await own_filters(self.command, where, f"--git-dir={folder}"))
        variables: Mapping[str, str] = {**filters, "GIT_INDEX_FILE": str(_index(folder))}
        places = (f"--git-dir={folder}", f"--work-tree={where}")
        return await self.command.run(
            where, *places, *words, deadline=DEADLINE, settings=AS_IT_IS, variables=variables
        )

    async def _commit(
        self, tree: Tree, folder: Path, files: str, parents: list[str], words: str
    ) -> str:
        named = [word for parent in parents for word in ("-p", parent)]
        answer = await self.command.run(
            folder, f"--git-dir={folder}", "commit-tree", *named, "-m", words, files, variables=US
        )
        return self._held(tree, answer)

    async def _tree_of(self, tree: Tree) -> str:
        words = ("rev-parse", "--verify", "-q", f"{tree.head}^{{tree}}")
        return self._held(tree, await self.command.run(tree.repository, *words))

    async def _refer(self, tree: Tree, commit: str | None) -> str | None:
        """A new reference to the commit, by owner and time."""
        if commit is None:
            return None
        agent = reference_part(tree.made.agent if tree.made else "")
        stem = f"{REFERENCES}/{agent}/{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        for name in (stem, *(f"{stem}-{number}" for number in range(2, 100))):
            answer = await self.command.run(tree.repository, "update-ref", name, commit, NOBODY)
            if answer.ok:
                return name
        raise Failed(
            f"{safe_line(str(tree.directory))} cannot be kept", answer.error, "Nothing was removed."
        )

    def _held(self, tree: Tree, answer: GitAnswer) -> str:
        if not answer.ok:
            raise Failed(
                f"{safe_line(str(tree.directory))} cannot be kept",
                answer.error,
                "So nothing was removed.",
            )
        return answer.line

    async def _folder(self, tree: Tree) -> Path:
        folder = await self.look.git_folder(tree.directory)
        if folder is None or not await self.look.is_top(tree.directory):
            raise Failed(
                f"{safe_line(str(tree.directory))} has lost its .git file",
                "git does not know what in it is work.",
                f"git -C {tree.repository} worktree repair, or move the folder away by hand.",
            )
        return folder


def _index(folder: Path) -> Path:
    return folder / "cockpit-index"


def _copy_index(folder: Path) -> None:
    """An index to work with, which knows what the real one knows."""
    _forget_index(folder)
    with suppress(FileNotFoundError):
        shutil.copy2(folder / "index", _index(folder))


def _forget_index(folder: Path) -> None:
    for path in (_index(folder), _index(folder).with_suffix(".lock")):
        path.unlink(missing_ok=True)


def _delete(folder: Path) -> None:
    """Everything in it, folders that forbid it too; links are not followed."""

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
            f"Something is left of {safe_line(str(folder))}",
            f"{error.strerror}: {safe_line(str(error.filename))}",
            "All of it is kept in git; delete the rest by hand.",
        ) from error
