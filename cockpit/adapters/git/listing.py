"""Describe each linked worktree of a repository: its agent, its changes, and the commits that
separate it from its base.

Read-only. A value is None if only the repository's programs could determine it.
"""

from __future__ import annotations

import asyncio
import filecmp
import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from cockpit.adapters.files.foreign_files import read_file
from cockpit.adapters.git.command import GitCommand
from cockpit.adapters.git.creation import is_ours, lock, read_note
from cockpit.adapters.git.facts import GitFactFinder, real
from cockpit.adapters.git.hidden_changes import overlooked
from cockpit.adapters.git.own_state import GitOwnState
from cockpit.adapters.git.worktree_list import registered
from cockpit.core.errors import CockpitError
from cockpit.ports.worktrees import Made, Tree

DOCUMENTS_FOLDER = ".cockpit"
"""The folder of cockpit's own documents. It is not listed as ignored, because cockpit keeps copies
of the documents."""
GITLINK = b"160000 "


class GitListing:
    """Lists the linked worktrees of repositories, with their state."""

    def __init__(self, command: GitCommand, look: GitFactFinder) -> None:
        self.command = command
        self.look = look
        self._own = GitOwnState(command)

    async def all_of(self, repository: Path) -> list[Tree]:
        """Return the linked worktrees in git's order; empty outside a repository.

        Raises `Failed` if git cannot list them.
        """
        common = await self.look.common(repository)
        if common is None:
            return []
        listed = await registered(self.command, repository)
        folders = await asyncio.to_thread(_folders, common)
        trees = [_tree(fields, repository) for fields in listed[1:]]
        return list(await asyncio.gather(*(self._state_of(tree, folders) for tree in trees)))

    async def _state_of(self, tree: Tree, folders: dict[Path, Path]) -> Tree:
        """Return the worktree with its state added.

        Values that cannot be read are unknown; an error does not affect other worktrees.
        """
        try:
            return await self._described(tree, folders)
        except (CockpitError, OSError, ValueError):
            return replace(tree, changed=None, untracked=None, alone=None, only_here=None)

    async def _described(self, tree: Tree, folders: dict[Path, Path]) -> Tree:
        folder = folders.get(tree.directory)
        reason = None if folder is None else await asyncio.to_thread(lock, folder)
        made = None if folder is None else await asyncio.to_thread(read_note, folder)
        if made is None and is_ours(reason):
            made = Made("")
        modules = await self._modules(folder) if folder is not None else ()
        unlocked = None if is_ours(reason) else reason
        tree = replace(tree, made=made, lock=unlocked, modules=modules)
        if folder is not None:
            tree = replace(tree, only_here=await self._only_here(tree, folder))
        if not await asyncio.to_thread((tree.directory / ".git").exists):
            gone = not await asyncio.to_thread(tree.directory.exists)
            staged = await self._staged(tree, folder) if gone and folder is not None else 0
            return replace(tree, missing=gone, changed=staged if gone else None)
        try:
            return await self._counted(tree)
        except CockpitError:
            return replace(tree, changed=None, untracked=None, alone=None)

    async def _only_here(self, tree: Tree, folder: Path) -> int | None:
        """Return the number of objects that would be lost with the worktree's
        `.git/worktrees/NAME`; None if unknown."""
        try:
            state = await self._own.read(tree, folder)
            commits = await self._own.only_there(tree, folder, state)
        except CockpitError:
            return None
        return commits.count + len(commits.objects)

    async def _staged(self, tree: Tree, folder: Path) -> int | None:
        if not await asyncio.to_thread((folder / "index").exists):
            return 0
        against_head = ("diff-index", "--cached", "--name-only", "-z", "HEAD")
        arguments = ("ls-files", "-z") if tree.head is None else against_head
        answer = await self.command.run(folder, *arguments, folder=folder, deadline=60.0)
        return len(set(answer.output.split(b"\0")) - {b""}) if answer.ok else None

    async def _modules(self, folder: Path) -> tuple[str, ...]:
        """Return the git directories of submodules that have unpushed commits, or whose commits git
        cannot count. These directories would be deleted with the worktree."""
        modules = await asyncio.to_thread(_kept_modules, folder / "modules")
        arguments = ("rev-list", "--count", "--all", "--reflog", "HEAD", "--not", "--remotes")
        alone = []
        for module in modules:
            answer = await self.command.run(module, *arguments, deadline=60.0, folder=module)
            if answer.line != "0":
                alone.append(str(module))
        return tuple(alone)

    async def _counted(self, tree: Tree) -> Tree:
        busy, lines = await asyncio.gather(
            self.look.busy(tree.directory), self._status(tree.directory)
        )
        alone, behind = await self._distance(tree)
        hidden = None if lines is None else await self._overlooked(tree.directory)
        if lines is None or hidden is None:
            return replace(
                tree, changed=None, untracked=None, busy=busy, alone=alone, behind=behind
            )
        marks = [line[:3] for line in lines]
        ignored = tuple(line[3:] for line in lines if line.startswith("!! "))
        return replace(
            tree,
            changed=sum(mark not in ("?? ", "!! ") for mark in marks) + hidden,
            overlooked=hidden,
            untracked=marks.count("?? "),
            ignored=tuple(path for path in ignored if DOCUMENTS_FOLDER not in Path(path).parts),
            busy=busy,
            alone=alone,
            behind=behind,
        )

    async def _overlooked(self, directory: Path) -> int | None:
        folder = await self.look.git_folder(directory)
        try:
            return None if folder is None else await overlooked(self.command, directory, folder)
        except OSError:
            return None

    async def _status(self, directory: Path) -> list[str] | None:
        if await self.look.names_programs(directory):
            return None
        answer = await self.command.run(
            directory,
            "status",
            "--porcelain",
            "-z",
            "--no-renames",
            "--untracked-files=normal",
            "--ignored=matching",
            "--ignore-submodules=dirty",
            deadline=60.0,
        )
        return os.fsdecode(answer.output).split("\0")[:-1] if answer.ok else None

    async def _distance(self, tree: Tree) -> tuple[int | None, int | None]:
        """Return the number of commits not pushed or merged, and of base commits that are missing
        in the worktree; None for an unknown number.
        """
        if tree.head is None:
            return 0, None
        base = tree.made.base if tree.made and tree.made.base else await self._default(tree)
        began = tree.made.commit if tree.made else ""
        known = [
            name for name in (base, began) if name and await self._is_commit(tree.directory, name)
        ]
        own = f"refs/heads/{tree.branch}" if tree.branch else ""
        elsewhere = [name for name in known if name != own]
        alone = await self._count(tree, tree.head, "--not", "--remotes", *elsewhere)
        behind = None
        if base in elsewhere:
            behind = await self._count(tree, base, "--not", tree.head)
        return alone, behind

    async def _default(self, tree: Tree) -> str:
        answer = await self.command.run(tree.repository, "symbolic-ref", "-q", "HEAD")
        return answer.line if answer.ok else ""

    async def _is_commit(self, directory: Path, name: str) -> bool:
        arguments = ("rev-parse", "--verify", "-q", "--end-of-options", f"{name}^{{commit}}")
        return (await self.command.run(directory, *arguments)).ok

    async def _count(self, tree: Tree, *which: str) -> int | None:
        arguments = ("rev-list", "--count", *which)
        answer = await self.command.run(tree.directory, *arguments, deadline=60.0)
        return int(answer.line) if answer.ok and answer.line.isdecimal() else None

    async def examine(self, tree: Tree) -> Tree:
        """Return the worktree with its nested repositories and the sizes of ignored files added.

        Ignored files that are the same in the main checkout are not included.
        """
        if tree.missing:
            return tree
        listed = await self.command.run(tree.directory, "ls-files", "--stage", "-z")
        links = [
            os.fsdecode(entry.partition(b"\t")[2])
            for entry in listed.output.split(b"\0")
            if entry.startswith(GITLINK)
        ]
        return await asyncio.to_thread(_examined, tree, links)


def _tree(fields: dict[str, str], repository: Path) -> Tree:
    head = fields.get("HEAD", "")
    return Tree(
        directory=Path(fields["worktree"]),
        repository=repository,
        branch=fields["branch"].removeprefix("refs/heads/") if "branch" in fields else None,
        head=head if head.strip("0") else None,
    )


def _folders(common: Path) -> dict[Path, Path]:
    """Map the path of each worktree to its `.git/worktrees/NAME`."""
    folders = {}
    for pointer in (common / "worktrees").glob("*/gitdir"):
        try:
            target = Path(os.fsdecode(read_file(pointer, 8192)).strip())
            # A newer git may write a path relative to the pointer's folder.
            folders[Path(os.path.normpath(pointer.parent / target)).parent] = pointer.parent
        except OSError:
            continue
    return folders


def own_folder(common: Path, directory: Path) -> Path | None:
    """Return the `.git/worktrees/NAME` of the worktree at a path, which may no longer exist."""
    return _folders(common).get(directory)


def _kept_modules(top: Path) -> list[Path]:
    """Return the git directories of submodules, including nested ones, below `top`, the folder
    `modules` of a worktree's git directory."""
    modules = []
    for folder, names, files in os.walk(top):
        if "HEAD" in files and "objects" in names:
            modules.append(Path(folder))
            names[:] = [name for name in names if name == "modules"]
    return sorted(modules)


def _examined(tree: Tree, links: list[str]) -> Tree:
    inner = [name for name in links if (tree.directory / name / ".git").exists()]
    inner += [str(path.relative_to(tree.directory)) for path in _repositories(tree.directory)]
    kept = tuple(name for name in tree.ignored if not _same_elsewhere(tree, name))
    sizes = tuple(_size(tree.directory / name) for name in kept)
    return replace(tree, inner=tuple(dict.fromkeys(inner)), ignored=kept, ignored_sizes=sizes)


def _size(path: Path) -> int:
    """Return the size of a file, or of all files in a folder, in bytes; follows no symlinks."""
    files = [path]
    if path.is_dir() and not path.is_symlink():
        files = [Path(folder) / name for folder, _, names in os.walk(path) for name in names]
    total = 0
    for file in files:
        with suppress(OSError):
            total += file.lstat().st_size
    return total


def _repositories(top: Path) -> list[Path]:
    """Return the folders below `top` that contain a `.git`; follows no symlinks."""
    repositories = []
    for folder, names, files in os.walk(top):
        path = Path(folder)
        if path != top and (".git" in names or ".git" in files):
            repositories.append(path)
            names.clear()
    return repositories


def _same_elsewhere(tree: Tree, name: str) -> bool:
    here, there = tree.directory / name, real(tree.repository) / name
    try:
        plain = here.is_file() and there.is_file() and not here.is_symlink()
        return plain and filecmp.cmp(here, there, shallow=False)
    except OSError:
        return False
