"""Verify that a repository contains a saved worktree, before the original is deleted.

git treats an object as present if a file with its name exists, and does not write the object again.
The file may be empty, or in a folder that is about to be deleted. So each saved object is read back
from the repository's own store, hashed again, and synced to disk.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import IO

from cockpit.adapters.files.file_system import sync_file_systems
from cockpit.adapters.files.foreign_files import read_file
from cockpit.adapters.git.command import DURABLE, GitCommand
from cockpit.adapters.git.own_state import SHARED
from cockpit.adapters.git.raw_files import AT_ONCE, DEADLINE, GitPaths
from cockpit.adapters.git.scratch import scratch
from cockpit.config.same_paths import is_within
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import Failed
from cockpit.core.safetext import safe_line
from cockpit.ports.worktrees import Tree

LARGEST_LIST = 1_000_000
"""Maximum bytes of a file that lists alternates."""
DEEPEST = 6
"""Maximum depth of alternates; git follows five."""
STORED = re.compile(r"/\S*/objects/")
BLOCK = 1 << 20


@dataclass(slots=True)
class _ReadBack:
    """The objects that could not be read back: all missing ones, and the first damaged one."""

    missing: list[str] = field(default_factory=list)
    damaged: str | None = None


class GitProof:
    """Verifies that a repository contains a saved worktree, before the original is deleted."""

    def __init__(self, command: GitCommand) -> None:
        self.command = command

    async def check(
        self,
        tree: Tree,
        git_paths: GitPaths,
        reference: str,
        commits: Sequence[str],
        to_remove: list[Path],
    ) -> None:
        """Raise `Failed` unless the reference and everything that it needs would survive a power
        failure.

        `commits`: the commits whose files are all needed; the reference points to the last one.
        `to_remove`: the folders that will be deleted. Objects that only an alternate contains are
        copied into the repository.
        """
        common = git_paths.folder.parent.parent
        try:
            into = await asyncio.to_thread(_paths_into, common, to_remove)
        except (OSError, ValueError) as error:
            why = f"cockpit cannot read its objects: {error}"
            raise _not_saved(tree, why, _repair_step(tree)) from error
        if into:
            raise _not_saved(
                tree,
                f"{safe_line(into, 200)} is in a folder that would be deleted.",
                "Move the objects into the repository (git repack -a -d), and remove this path.",
            )
        await self._check_reference(tree, reference, commits)
        needed = await self._needed(tree, git_paths, reference, commits)
        if missing := await self._read_back(tree, git_paths, common, needed):
            await self._copy(tree, git_paths, common, missing)
            if await self._read_back(tree, git_paths, common, missing):
                raise _not_saved(tree, f"Object {missing[0]} is missing.", "Try again.")
        try:
            await asyncio.to_thread(
                sync_file_systems, (common, common / "objects", common / "refs")
            )
        except OSError as error:
            raise _not_saved(
                tree, f"Cannot sync the objects to disk: {error.strerror}", "Check the disk."
            ) from error

    async def _check_reference(self, tree: Tree, reference: str, commits: Sequence[str]) -> None:
        arguments = ("rev-parse", "--verify", "-q", "--end-of-options", reference)
        answer = await self.command.run(tree.repository, *arguments)
        if answer.line != commits[-1]:
            raise _not_saved(tree, f"{safe_line(reference)} was changed or deleted.", "Try again.")

    async def _needed(
        self, tree: Tree, git_paths: GitPaths, reference: str, commits: Sequence[str]
    ) -> list[str]:
        """Return all objects of the commits, and of ancestors that no other reference reaches."""
        needed: dict[str, None] = {}
        for arguments in (
            ("--no-walk", *commits),
            (reference, "--not", f"--exclude={reference}", *SHARED),
        ):
            answer = await self.command.run(
                git_paths.folder,
                "rev-list",
                "--objects",
                *arguments,
                folder=git_paths.folder,
                deadline=DEADLINE,
            )
            if not answer.ok:
                raise _not_saved(tree, answer.error, _repair_step(tree))
            needed |= dict.fromkeys(
                line.partition(b" ")[0].decode("ascii") for line in answer.output.splitlines()
            )
        return list(needed)

    async def _read_back(
        self, tree: Tree, git_paths: GitPaths, common: Path, names: list[str]
    ) -> list[str]:
        """Return the objects that are missing in the repository's own object store.

        Raises `Failed` for a damaged object.
        """
        missing: list[str] = []
        async with scratch(self.command.private) as own:
            store = await asyncio.to_thread(_own_store, own, common)
            for start in range(0, len(names), AT_ONCE):
                some = names[start : start + AT_ONCE]
                read = await self.command.run_streaming(
                    git_paths.folder,
                    *("cat-file", "--batch", "--buffer"),
                    taking=partial(_hashed, some),
                    stdin="\n".join(some).encode() + b"\n",
                    variables={"GIT_OBJECT_DIRECTORY": str(store)},
                    folder=git_paths.folder,
                    deadline=DEADLINE,
                )
                if read.damaged is not None:
                    raise _not_saved(
                        tree,
                        f"The repository's object {read.damaged} is damaged.",
                        _repair_step(tree),
                    )
                missing += read.missing
        return missing

    async def _copy(self, tree: Tree, git_paths: GitPaths, common: Path, names: list[str]) -> None:
        """Copy objects into a pack of the repository, from any store that git uses."""
        answer = await self.command.run(
            git_paths.folder,
            *("pack-objects", "--quiet", str(common / "objects" / "pack" / "pack")),
            stdin="\n".join(names).encode() + b"\n",
            settings=DURABLE,
            folder=git_paths.folder,
            deadline=DEADLINE,
        )
        if not answer.ok:
            raise _not_saved(tree, answer.error, _repair_step(tree))


def _not_saved(tree: Tree, why: str, following: str) -> Failed:
    # git reads the objects through a private folder, whose path would not help the user.
    why = STORED.sub(".git/objects/", why)
    return Failed(
        f"The repository does not contain all of {safe_line(str(tree.directory))}",
        f"{safe_line(why, 400)} Nothing was removed.",
        safe_line(following, 400),
    )


def _repair_step(tree: Tree) -> str:
    return (
        f"Run: git -C {tree.repository} fsck. If it reports a damaged file in .git/objects, move"
        " this file away and try again; its content is then saved again from the worktree."
    )


def _hashed(names: Sequence[str], output: IO[bytes]) -> _ReadBack:
    """Return which of the objects `names` are missing or damaged, from the output of git's
    `cat-file`."""
    read = _ReadBack()
    for name in names:
        header = output.readline().split()
        if header[1:] == [b"missing"]:
            read.missing.append(name)
        elif len(header) != 3 or not _is_whole(output, name, header[1], int(header[2])):
            read.damaged = name
            return read
    return read


def _is_whole(output: IO[bytes], name: str, kind: bytes, size: int) -> bool:
    digest = object_digest(name, kind, size)
    while size:
        block = output.read(min(size, BLOCK))
        if not block:
            return False
        digest.update(block)
        size -= len(block)
    return output.read(1) == b"\n" and digest.hexdigest() == name


def object_digest(name: str, kind: bytes, size: int) -> hashlib._Hash:
    """Return a hash object that has read git's header; the caller adds the content.

    The length of `name` selects the algorithm.
    """
    head = b"%s %d\0" % (kind, size)
    return hashlib.sha256(head) if len(name) == 64 else hashlib.sha1(head, usedforsecurity=False)


def _own_store(own: Path, common: Path) -> Path:
    """Create a view of the repository's objects without alternates; return its path."""
    store = own / "objects"
    store.mkdir()
    with os.scandir(common / "objects") as listed:
        for entry in listed:
            if entry.is_dir() and (entry.name == "pack" or len(entry.name) == 2):
                (store / entry.name).symlink_to(entry.path)
    return store


def _paths_into(common: Path, to_remove: list[Path]) -> str | None:
    """Return a path of the repository's objects or references that is in one of the folders; None
    if there is none."""
    gone = [Path(os.path.realpath(folder)) for folder in to_remove]

    def inside(path: Path) -> bool:
        place = Path(os.path.realpath(path))
        return any(is_within(place, folder) for folder in gone)

    links = [common / name for name in ("objects", "refs", "packed-refs", "reftable", "logs")]
    links += _links(common / "refs") if (common / "refs").is_dir() else []
    links += _links(common / "objects")
    stores = list(_alternates(common / "objects"))
    return next((str(path) for path in (*links, *stores) if inside(path)), None)


def _links(top: Path) -> Iterator[Path]:
    for folder, _, _ in os.walk(top):
        with os.scandir(folder) as listed:
            yield from (Path(entry.path) for entry in listed if entry.is_symlink())


def _alternates(objects: Path, depth: int = 0) -> Iterator[Path]:
    try:
        lines = read_file(objects / "info" / "alternates", LARGEST_LIST).splitlines()
    except FileNotFoundError:
        return
    for line in lines:
        if not line or line.startswith(b"#"):
            continue
        # git quotes a path only if it contains special bytes.
        text = line[1:-1].decode("unicode_escape").encode("latin-1") if line[:1] == b'"' else line
        store = objects / os.fsdecode(text)
        yield store
        if depth < DEEPEST:
            yield from _alternates(store, depth + 1)
