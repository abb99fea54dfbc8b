"""Find and save the objects that would be lost with a worktree's `.git/worktrees/NAME`.

A worktree has its own HEAD and reflog, its own index, and its own references (`refs/worktree`,
`refs/bisect`, `refs/rewritten`, `ORIG_HEAD`, `MERGE_HEAD` and others). Some commits, files and
trees may have no other references.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from cockpit.adapters.files.foreign_files import opened, read_file
from cockpit.adapters.git.command import GitCommand
from cockpit.adapters.git.facts import OPERATIONS
from cockpit.adapters.git.raw_files import FILE, Entry, GitPaths, RawFiles, staged, tree_entries
from cockpit.adapters.git.worktree_list import registered
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import Failed
from cockpit.core.safetext import safe_line
from cockpit.ports.worktrees import Tree

HASH = re.compile(rb"(?<![0-9a-f])(?:[0-9a-f]{64}|[0-9a-f]{40})(?![0-9a-f])")
FOLDERS = ("logs", "refs", "rebase-merge", "rebase-apply", "sequencer")
"""Subfolders of `.git/worktrees/NAME` with work or references to commits. Without `modules`, whose
repositories are checked separately."""
POINTERS = ("commondir", "gitdir", "locked", "config.worktree")
NOT_READ = ("index", "sharedindex.", "cockpit", ".cockpit")
"""Name prefixes of files that are saved in another way, or are cockpit's own."""
MOST = 64_000_000
"""Maximum bytes of a worktree's files in `.git/worktrees/NAME`; a reflog with 100,000 entries has a
quarter of this."""
REFERENCES = ("refs/worktree", "refs/bisect", "refs/rewritten")
SHARED = ("--single-worktree", *(f"--exclude={name}/*" for name in REFERENCES), "--all")
"""Options of `git rev-list` for all references that remain after a worktree's removal: shared
references and the main HEAD."""
PARENTS = 500
"""Maximum parents of one commit; more parents are distributed over several commits."""
SIDES = ("", "the common ancestor's side", "our side", "their side")


@dataclass(frozen=True, slots=True)
class OwnState:
    """The contents of a worktree's `.git/worktrees/NAME`, at one point in time."""

    files: dict[bytes, bytes]
    """File content by name, without the index and cockpit's files."""
    index: str
    """Digest of the worktree's index file."""

    @property
    def hashes(self) -> list[str]:
        """Every object hash in the files, in order, without duplicates."""
        texts = self.files.values()
        hashes = (match.group().decode() for text in texts for match in HASH.finditer(text))
        return [object_id for object_id in dict.fromkeys(hashes) if object_id.strip("0")]

    @property
    def busy(self) -> bool:
        """Whether a git operation, such as a rebase, is in progress; the operation's files may
        contain work."""
        heads = {name.split(b"/")[0] for name in self.files}
        return any(os.fsencode(name) in heads for name in OPERATIONS)


@dataclass(frozen=True, slots=True)
class OwnObjects:
    """The objects that would be lost with a worktree's `.git/worktrees/NAME`."""

    commits: tuple[str, ...] = ()
    """The lost commits that are not ancestors of other lost commits. References to them keep the
    ancestors too."""
    count: int = 0
    """The number of lost commits, including ancestors."""
    objects: tuple[tuple[str, str], ...] = ()
    """Type and hash of the objects that are not commits. Includes objects that something else
    reaches."""


class GitOwnState:
    """Reads and saves a worktree's `.git/worktrees/NAME`."""

    def __init__(self, command: GitCommand) -> None:
        self.command = command
        self._bytes = RawFiles(command)

    async def read(self, tree: Tree, folder: Path) -> OwnState:
        """Return the contents of the worktree's `.git/worktrees/NAME`.

        Raises `Failed` if a file cannot be read, or if the files are too large.
        """
        try:
            return await asyncio.to_thread(_read, folder)
        except OSError as error:
            raise Failed(
                f"Cannot read git's files for the worktree {safe_line(str(tree.directory))}",
                f"{safe_line(os.fsdecode(error.filename or folder))}: {error.strerror}",
                "Nothing was removed, because the files may be the only references to some commits."
                " Make these files readable, then try again.",
            ) from error

    async def only_there(self, tree: Tree, folder: Path, state: OwnState) -> OwnObjects:
        """Return the objects that no branch, tag, remote, other reference or other worktree's HEAD
        reaches.

        The checked-out commit is not included. Objects that are not commits are included even if
        something else reaches them. Raises `Failed`.
        """
        commits, others = await self._sorted(tree, folder, await self._named(folder, state))
        if not commits:
            return OwnObjects(objects=tuple(others))
        kept = await self._heads_elsewhere(tree)
        asked = "\n".join([*commits, *(f"^{object_id}" for object_id in kept)])
        arguments = ("rev-list", "--parents", "--stdin", "--not", *SHARED)
        answer = await self.command.run(
            tree.repository, *arguments, deadline=60.0, stdin=asked.encode() + b"\n"
        )
        if not answer.ok:
            raise self._unknown(tree, answer.error)
        lines = [line.split() for line in answer.output.decode("ascii").splitlines()]
        before = {parent for line in lines for parent in line[1:]}
        tips = tuple(line[0] for line in lines if line[0] not in before)
        return OwnObjects(tips, len(lines), tuple(others))

    async def _named(self, folder: Path, state: OwnState) -> list[str]:
        """Return the object hashes in the files of `state`, and those that git lists for the
        worktree's reflog and references, which need not be stored as files."""
        names = []
        for arguments in (
            ("rev-list", "--walk-reflogs", "HEAD"),
            ("for-each-ref", "--format=%(objectname)", *REFERENCES),
        ):
            # Before the first commit, the first call fails and there is nothing to read.
            answer = await self.command.run(folder, *arguments, folder=folder, deadline=60.0)
            names += answer.output.decode("ascii").split()
        return list(dict.fromkeys([*state.hashes, *names]))

    async def _sorted(
        self, tree: Tree, folder: Path, hashes: list[str]
    ) -> tuple[list[str], list[tuple[str, str]]]:
        """Return the commits among the hashes, including commits to which tags refer, and the type
        and hash of other existing objects."""
        commits, others = [], []
        for kind, held in await self._kinds(tree, folder, hashes):
            if kind == "commit":
                commits.append(held)
            elif kind != "missing":
                others.append((kind, held))
        tagged = [f"{held}^{{commit}}" for kind, held in others if kind == "tag"]
        for kind, held in await self._kinds(tree, folder, tagged):
            if kind == "commit":
                commits.append(held)
        return commits, others

    async def _kinds(self, tree: Tree, folder: Path, names: list[str]) -> list[tuple[str, str]]:
        if not names:
            return []
        arguments = ("cat-file", "--batch-check=%(objecttype) %(objectname)")
        text = "\n".join(names).encode() + b"\n"
        answer = await self.command.run(
            folder, *arguments, folder=folder, stdin=text, deadline=60.0
        )
        if not answer.ok:
            raise self._unknown(tree, answer.error)
        lines = [line.split() for line in answer.output.decode("ascii").splitlines()]
        return [(kind, held) for kind, held in lines if held != "missing"]

    async def _heads_elsewhere(self, tree: Tree) -> list[str]:
        others = [
            fields.get("HEAD", "")
            for fields in await registered(self.command, tree.repository)
            if fields["worktree"] != str(tree.directory)
        ]
        return [
            object_id for object_id in (tree.head, *others) if object_id and object_id.strip("0")
        ]

    def _unknown(self, tree: Tree, why: str) -> Failed:
        return Failed(
            f"Cannot list the commits that only {safe_line(str(tree.directory))} keeps",
            why,
            "Nothing was removed. Check the repository: git fsck",
        )

    # Saving

    async def entries(
        self, git_paths: GitPaths, state: OwnState, only: OwnObjects
    ) -> dict[bytes, Entry]:
        """Store in git the files of `state`, and the objects of `only` that are not commits; return
        tree entries for both."""
        entries: dict[bytes, Entry] = {}
        for name, content in state.files.items():
            entries[b"git/" + name] = (FILE, await self._written(git_paths, content))
        for kind, held in only.objects:
            name = f"objects/{held}".encode()
            if kind == "tag":
                answer = await self._bytes.run(git_paths, git_paths.folder, "cat-file", "tag", held)
                entries[name] = (FILE, await self._written(git_paths, answer.output))
            elif kind == "blob":
                entries[name] = (FILE, held)
            else:
                entries.update(await self._below(git_paths, name, held))
        return entries

    async def _below(self, git_paths: GitPaths, name: bytes, tree: str) -> dict[bytes, Entry]:
        answer = await self._bytes.run(git_paths, git_paths.folder, "ls-tree", "-r", "-z", tree)
        return {name + b"/" + inner: entry for inner, entry in tree_entries(answer.output)}

    async def _written(self, git_paths: GitPaths, content: bytes) -> str:
        arguments = ("hash-object", "-w", "-t", "blob", "--no-filters", "--stdin")
        answer = await self._bytes.run(git_paths, git_paths.folder, *arguments, stdin=content)
        if not answer.ok:
            raise Failed(
                "Cannot save git's files for the worktree",
                answer.error,
                "Nothing was removed. Check the repository: git fsck",
            )
        return answer.line

    async def staged(self, git_paths: GitPaths) -> list[tuple[str, str]]:
        """Return the trees of the index, each with a description; an index with conflicts has
        several."""
        written = await self._bytes.run(git_paths, git_paths.folder, "write-tree")
        if written.ok:
            return [(written.line, "Staged")]
        listed = await self._bytes.run(
            git_paths, git_paths.folder, "ls-files", "-t", "--stage", "-z"
        )
        entries = list(staged(listed.output))
        if not listed.ok or not any(stage for _, _, stage, _ in entries):
            raise Failed(
                "Cannot save the staged files",
                written.error,
                "Nothing was removed. Check the repository: git fsck",
            )
        plain = {name: entry for name, _, stage, entry in entries if not stage}
        trees = []
        for number, side in enumerate(SIDES):
            if files := {name: entry for name, _, stage, entry in entries if stage == number > 0}:
                tree = await self._bytes.tree(git_paths, files, below=plain)
                trees.append((tree, f"Staged in a conflict, {side},"))
        return trees


def in_groups(commits: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    """Split the commits into groups that can be the parents of one commit."""
    return (commits[start : start + PARENTS] for start in range(0, len(commits), PARENTS))


def _read(folder: Path) -> OwnState:
    files = {os.fsencode(path.relative_to(folder)): path for path in _paths(folder)}
    contents: dict[bytes, bytes] = {}
    left = MOST
    for name, path in sorted(files.items()):
        try:
            if path.is_symlink():  # an older git's format of HEAD
                contents[name] = os.fsencode(path.readlink())
                continue
            contents[name] = read_file(path, left, follow_links=False)
        except FileNotFoundError:
            continue
        left -= len(contents[name])
    return OwnState(contents, index_digest(folder / "index"))


def index_digest(path: Path) -> str:
    """Return the digest of an index file; "" if it does not exist. Raises `OSError`. Blocks."""
    digest = hashlib.sha256()
    try:
        with opened(path) as file:
            while some := file.read(1 << 20):
                digest.update(some)
    except FileNotFoundError:
        return ""
    return digest.hexdigest()


def _paths(folder: Path) -> Iterator[Path]:
    def fail(error: OSError) -> None:
        raise error

    for path in sorted(folder.iterdir()):
        name = path.name
        if path.is_dir() and not path.is_symlink():
            if name in FOLDERS:
                for inside, _, names in os.walk(path, onerror=fail):
                    yield from (Path(inside) / file for file in sorted(names))
        elif name not in POINTERS and not name.startswith(NOT_READ):
            yield path
