"""Save a worktree as a commit that a reference keeps: files, index and `.git/worktrees/NAME`.

The files are saved byte for byte, without git's filters.
"""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime

from cockpit.adapters.git.command import DURABLE, GitAnswer, GitCommand
from cockpit.adapters.git.commit_refs import MUST_NOT_EXIST, reference_part
from cockpit.adapters.git.own_state import GitOwnState, OwnState, in_groups, index_digest
from cockpit.adapters.git.raw_files import (
    GITLINK,
    Content,
    Entry,
    GitPaths,
    RawFiles,
    not_saved,
    staged,
)
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import Failed, NotNow
from cockpit.core.safetext import safe_line
from cockpit.ports.worktrees import Tree

REFERENCES = "refs/cockpit/salvage"
AUTHOR = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "cockpit"), ("EMAIL", "cockpit@localhost"))
}


@dataclass(frozen=True, slots=True)
class Saved:
    """A worktree's content when it was saved, and the commits that contain this content."""

    content: Content
    state: OwnState
    reference: str | None
    commits: tuple[str, ...] = ()
    """The commits that were created, or else HEAD; the reference points to the last one."""


class WorktreeSaver:
    """Saves worktrees as commits that a reference keeps, byte for byte."""

    def __init__(self, command: GitCommand, raw_files: RawFiles, own: GitOwnState) -> None:
        self._command = command
        self._raw_files = raw_files
        self._own = own

    async def save(
        self, tree: Tree, git_paths: GitPaths, left_out: tuple[str, ...], *, whole: bool
    ) -> Saved:
        """Save the worktree's files in a commit, whose parents are HEAD and the commits for the
        other parts.

        The other parts are the index and the objects to which only `.git/worktrees/NAME` refers.
        If nothing differs from HEAD, no commit is created. Raises `NotNow` if files were just
        staged, and with `whole`, `Failed` for a nested repository.
        """
        state = await self._own.read(tree, git_paths.folder)
        if await asyncio.to_thread(index_digest, git_paths.index) != state.index:
            raise NotNow(
                f"{safe_line(str(tree.directory))} was not saved",
                "Files were just staged in the worktree. Nothing was removed.",
                "Try again.",
            )
        made: list[str] = []
        content = Content({})
        if not tree.missing:
            content = await self._raw_files.content(git_paths, tree.directory, left_out, write=True)
        if whole and content.nested:
            names = ", ".join(safe_line(os.fsdecode(name), 80) for name in content.nested[:5])
            raise not_saved(tree.directory, f"The worktree contains other repositories: {names}.")
        head = "" if tree.head is None else await self._tree_of(tree)
        files = head
        if not tree.missing:
            below = await self._not_checked_out(tree, git_paths, content)
            files = await self._raw_files.tree(
                git_paths, content.entries, below=below, nested=content.nested, where=tree.directory
            )
        parents = [] if tree.head is None else [tree.head]
        for staged_tree, what in await self._staged(tree, git_paths, (head, files)):
            message = f"{what} in {tree.directory.name}"
            base = parents[:1] if tree.head else []
            parents.append(await self._commit(tree, git_paths, staged_tree, base, message))
            made.append(parents[-1])
        if (own := await self._own_commit(tree, git_paths, state)) is not None:
            parents.append(own)
            made.append(own)
        commit = tree.head
        if (parents or not tree.missing) and (parents, files) != ([tree.head], head):
            message = safe_line(f"Everything in the worktree {tree.directory.name}")
            files = files or await self._raw_files.tree(git_paths, {})
            commit = await self._commit(tree, git_paths, files, parents, message)
        made += [commit] if commit is not None else []
        return Saved(content, state, await self._create_reference(tree, commit), tuple(made))

    async def _staged(
        self, tree: Tree, git_paths: GitPaths, known: tuple[str, str]
    ) -> list[tuple[str, str]]:
        """Return the trees of the index with descriptions, except the empty tree and those in
        `known`."""
        if not await asyncio.to_thread(git_paths.index.exists):
            return []
        empty = await self._raw_files.tree(git_paths, {})
        entries = await self._own.staged(git_paths)
        return [entry for entry in entries if entry[0] not in (*known, empty)]

    async def _own_commit(self, tree: Tree, git_paths: GitPaths, state: OwnState) -> str | None:
        """Write a commit with the files of `.git/worktrees/NAME`, and return the commit's hash.

        Its parents are the commits to which only these files refer. None if the files need not be
        saved.
        """
        only = await self._own.only_there(tree, git_paths.folder, state)
        if not (only.commits or only.objects or state.busy):
            return None
        files = await self._raw_files.tree(
            git_paths, await self._own.entries(git_paths, state, only)
        )
        message = (
            f"Git state of the worktree {tree.directory.name} ({only.count} commits only there)"
        )
        last: list[str] = []
        for some in in_groups(only.commits):
            last = [await self._commit(tree, git_paths, files, [*last, *some], safe_line(message))]
        return (
            last[0] if last else await self._commit(tree, git_paths, files, [], safe_line(message))
        )

    async def _not_checked_out(
        self, tree: Tree, git_paths: GitPaths, content: Content
    ) -> dict[bytes, Entry]:
        """Return entries of the index that may be missing in the folder: sparse files and empty
        submodules.
        """
        arguments = ("ls-files", "-t", "--stage", "-z")
        answer = require_ok(
            tree, await self._raw_files.run(git_paths, git_paths.folder, *arguments)
        )
        listed = [line for line in staged(answer.output) if line[2] == 0]
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
        self, tree: Tree, git_paths: GitPaths, files: str, parents: list[str], message: str
    ) -> str:
        named = [word for parent in parents for word in ("-p", parent)]
        answer = await self._command.run(
            git_paths.folder,
            *("commit-tree", *named, "-m", message, files),
            deadline=60.0,
            settings=DURABLE,
            variables=AUTHOR,
            folder=git_paths.folder,
        )
        return require_ok(tree, answer).line

    async def _tree_of(self, tree: Tree) -> str:
        arguments = ("rev-parse", "--verify", "-q", f"{tree.head}^{{tree}}")
        return require_ok(tree, await self._command.run(tree.repository, *arguments)).line

    async def _create_reference(self, tree: Tree, commit: str | None) -> str | None:
        """Create a reference to the commit; return its name, which contains the agent and the time.
        None without a commit."""
        if commit is None:
            return None
        agent = reference_part(tree.made.agent if tree.made else "")
        stem = f"{REFERENCES}/{agent}/{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        for name in (stem, *(f"{stem}-{number}" for number in range(2, 100))):
            arguments = ("update-ref", name, commit, MUST_NOT_EXIST)
            answer = await self._command.run(tree.repository, *arguments, settings=DURABLE)
            if answer.ok:
                return name
        raise Failed(
            f"Cannot save {safe_line(str(tree.directory))}",
            answer.error,
            "Nothing was removed. Check that the repository is writable.",
        )


def require_ok(tree: Tree, answer: GitAnswer) -> GitAnswer:
    """Return the answer. Raises `Failed` if git failed."""
    if not answer.ok:
        raise Failed(
            f"Cannot save {safe_line(str(tree.directory))}",
            answer.error,
            "Nothing was removed. Check the repository: git fsck",
        )
    return answer
