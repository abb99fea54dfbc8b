"""Store the files of a folder in git byte for byte, and compare files with git's content.

`git add` changes content: attributes convert line endings and encodings, shorten `$Id$` and run
filters. This module writes each file unchanged as a blob, and builds the tree from the hashes. The
files are listed without git, so index flags and ignore rules hide no file.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import field
from pathlib import Path

from cockpit.adapters.git.command import DURABLE, GitAnswer, GitCommand
from cockpit.adapters.git.scratch import scratch
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import Failed
from cockpit.core.safetext import safe_line

DEADLINE = 300.0
"""Seconds for one git call, which may process a few thousand files on a slow disk."""
AT_ONCE = 4000
"""Maximum files for one git call."""
FILE, PROGRAM, LINK, GITLINK = "100644", "100755", "120000", "160000"
EVERY_NAME = {
    **DURABLE,
    "core.bigFileThreshold": "64m",
    "core.protectHFS": "false",
    "core.protectNTFS": "false",
}
"""Settings that allow names that git refuses because they are dangerous on other systems."""

LISTING = ("ls-tree", "-r", "-z", "--full-tree")

Entry = tuple[str, str]
"""Mode and hash of a file, in git's format."""


@dataclass(frozen=True, slots=True)
class GitPaths:
    """The git directory and the index that git uses while a worktree is saved."""

    folder: Path
    """The worktree's git directory: `.git/worktrees/NAME`, or `.git` for the main checkout."""
    index: Path
    """An index in a private folder, usually a copy of the worktree's index, because other processes
    may write to the original."""


@dataclass(frozen=True, slots=True)
class Content:
    """The files of a folder with their hashes, and the repositories in it."""

    entries: dict[bytes, Entry]
    """Mode and hash of each file and symbolic link, by name."""
    nested: tuple[bytes, ...] = ()
    """Folders that are separate repositories; their files are not in `entries`."""


@dataclass(slots=True)
class _Walk:
    files: list[tuple[bytes, str]] = field(default_factory=list)
    links: list[tuple[bytes, bytes]] = field(default_factory=list)
    nested: list[bytes] = field(default_factory=list)


class RawFiles:
    """Hashes files without conversion, and stores them in git."""

    def __init__(self, command: GitCommand) -> None:
        self.command = command

    async def content(
        self, git_paths: GitPaths, where: Path, left_out: Sequence[str] = (), *, write: bool
    ) -> Content:
        """Return all files below `where`, including ignored files; with `write`, store them in git
        too.

        Skips `.git` at the top, `left_out`, empty folders, and files without content (sockets,
        named pipes, devices). Raises `Failed` if a file cannot be read.
        """
        skipped = {os.fsencode(name.rstrip("/")) for name in left_out} | {b".git"}
        try:
            walk = await asyncio.to_thread(_walk, where, skipped)
        except OSError as error:
            raise not_saved(where, f"{_shown(error)}: {error.strerror}") from error
        entries = await self._entries(git_paths, where, walk, write=write)
        return Content(entries, tuple(walk.nested))

    async def content_of(
        self, git_paths: GitPaths, where: Path, names: Sequence[bytes], *, write: bool
    ) -> dict[bytes, Entry]:
        """Return the files of `names` that exist below `where`; with `write`, store them in git.

        Follows no symlink on the way to a file. Raises `Failed` if a file cannot be read.
        """
        try:
            walk = await asyncio.to_thread(_named, where, names)
        except OSError as error:
            raise not_saved(where, f"{_shown(error)}: {error.strerror}") from error
        return await self._entries(git_paths, where, walk, write=write)

    async def _entries(
        self, git_paths: GitPaths, where: Path, walk: _Walk, *, write: bool
    ) -> dict[bytes, Entry]:
        options = ("-w",) if write else ()
        entries: dict[bytes, Entry] = {}
        top = os.fsencode(where)
        for start in range(0, len(walk.files), AT_ONCE):
            some = walk.files[start : start + AT_ONCE]
            paths = [top + b"/" + name for name, _ in some]
            hashes = await self._hashes(git_paths, where, paths, options)
            pairs = zip(some, hashes, strict=True)
            entries.update({name: (mode, held) for (name, mode), held in pairs})
        for start in range(0, len(walk.links), AT_ONCE):
            links = walk.links[start : start + AT_ONCE]
            async with scratch(self.command.private) as own:
                targets = [target for _, target in links]
                paths = await asyncio.to_thread(_write_all, own, targets)
                hashes = await self._hashes(git_paths, where, paths, options)
            pointed = zip(links, hashes, strict=True)
            entries.update({name: (LINK, held) for (name, _), held in pointed})
        return entries

    async def _hashes(
        self, git_paths: GitPaths, where: Path, paths: list[bytes], options: tuple[str, ...]
    ) -> list[str]:
        answer = await self.run(
            git_paths,
            git_paths.folder,
            *("hash-object", *options, "--no-filters", "--stdin-paths"),
            stdin=b"".join(quoted(path) + b"\n" for path in paths),
        )
        hashes = answer.output.decode("ascii", "replace").split()
        if not answer.ok or len(hashes) != len(paths):
            raise not_saved(where, answer.error)
        return hashes

    async def tree(
        self,
        git_paths: GitPaths,
        entries: dict[bytes, Entry],
        *,
        below: dict[bytes, Entry] | None = None,
        nested: tuple[bytes, ...] = (),
        where: Path | None = None,
    ) -> str:
        """Write a tree of these entries; return the tree's hash. git must already have the entries'
        objects.

        The tree includes the entries of `below` whose paths are not in `entries`. For each
        repository of `nested`, below `where`, the tree contains the repository's HEAD commit.
        Raises `Failed`.
        """
        async with scratch(self.command.private) as own:
            private_paths = GitPaths(git_paths.folder, own / "index")
            both = (*(below or {}).items(), *entries.items())
            lines = [_line(name, entry) for name, entry in both]
            if lines:
                arguments = ("update-index", "-z", "--index-info")
                self._require_ok(
                    await self.run(
                        private_paths, git_paths.folder, *arguments, stdin=b"".join(lines)
                    )
                )
            for name in nested:
                add = ("update-index", "--add", "--", os.fsdecode(name))
                self._require_ok(await self.run(private_paths, where or git_paths.folder, *add))
            tree = self._require_ok(
                await self.run(private_paths, git_paths.folder, "write-tree")
            ).line
            listed = self._require_ok(
                await self.run(private_paths, git_paths.folder, *LISTING, tree)
            )
        # git silently skips some names, such as a link with the name .gitmodules.
        held = dict(tree_entries(listed.output))
        lost = next((name for name, entry in entries.items() if held.get(name) != entry), None)
        if lost is not None:
            raise not_saved(
                where or git_paths.folder, f"git cannot store {safe_line(os.fsdecode(lost))}."
            )
        return tree

    def _require_ok(self, answer: GitAnswer) -> GitAnswer:
        if not answer.ok:
            raise Failed(
                "Cannot save all files",
                answer.error,
                "Nothing was removed. Check the repository: git fsck",
            )
        return answer

    async def run(
        self, git_paths: GitPaths, where: Path, *arguments: str, stdin: bytes = b""
    ) -> GitAnswer:
        """Run git in `where`, with the index of `git_paths`, and with settings that allow every
        file name."""
        return await self.command.run(
            where,
            *arguments,
            deadline=DEADLINE,
            settings=EVERY_NAME,
            variables={"GIT_INDEX_FILE": str(git_paths.index)},
            folder=git_paths.folder,
            stdin=stdin,
        )


def not_saved(where: Path, why: str) -> Failed:
    return Failed(
        f"Cannot save all files in {safe_line(str(where))}",
        why,
        "Nothing was removed. Move the file elsewhere, then try again.",
    )


def staged(listed: bytes) -> Iterator[tuple[bytes, str, int, Entry]]:
    """Yield name, tag, stage and entry of each line of `git ls-files -t --stage -z`."""
    for line in listed.split(b"\0")[:-1]:
        fields, _, name = line.partition(b"\t")
        tag, mode, held, stage = fields.decode("ascii").split()
        yield name, tag, int(stage), (mode, held)


def tree_entries(listed: bytes) -> Iterator[tuple[bytes, Entry]]:
    """Yield name and entry of each line of the output of `LISTING`."""
    for line in listed.split(b"\0")[:-1]:
        fields, _, name = line.partition(b"\t")
        mode, _, held = fields.decode("ascii").split()
        yield name, (mode, held)


def quoted(path: bytes) -> bytes:
    """Quote a path for a git command that reads one path per line. The path may contain any
    bytes."""
    plain = b"".join(
        bytes((byte,)) if 32 <= byte < 127 and byte not in b'"\\' else b"\\%03o" % byte
        for byte in path
    )
    return b'"' + plain + b'"'


def _line(name: bytes, entry: Entry) -> bytes:
    mode, held = entry
    return f"{mode} {held}\t".encode() + name + b"\0"


def _walk(where: Path, skipped: set[bytes]) -> _Walk:
    walk = _Walk()
    folders = [b""]
    top = os.fsencode(where)
    while folders:
        inside = folders.pop()
        with os.scandir(top + b"/" + inside) as listed:
            entries = sorted(listed, key=lambda entry: entry.name)
        if inside and any(entry.name.lower() == b".git" for entry in entries):
            walk.nested.append(inside)
            continue
        for entry in entries:
            name = inside + b"/" + entry.name if inside else entry.name
            if name in skipped:
                continue
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                folders.append(name)
            elif stat.S_ISREG(mode):
                walk.files.append((name, PROGRAM if mode & stat.S_IXUSR else FILE))
            elif stat.S_ISLNK(mode):
                target = Path(os.fsdecode(entry.path)).readlink()
                walk.links.append((name, os.fsencode(target)))
    return walk


def _named(where: Path, names: Sequence[bytes]) -> _Walk:
    walk = _Walk()
    top = os.fsencode(where)
    folders: dict[bytes, bool] = {b"": True}

    def is_folder(name: bytes) -> bool:
        if name not in folders:
            inside = is_folder(name.rpartition(b"/")[0])
            folders[name] = inside and stat.S_ISDIR(_mode(top + b"/" + name))
        return folders[name]

    for name in names:
        if not is_folder(name.rpartition(b"/")[0]):
            continue
        mode = _mode(top + b"/" + name)
        if stat.S_ISREG(mode):
            walk.files.append((name, PROGRAM if mode & stat.S_IXUSR else FILE))
        elif stat.S_ISLNK(mode):
            walk.links.append((name, os.fsencode(Path(os.fsdecode(top + b"/" + name)).readlink())))
    return walk


def _mode(path: bytes) -> int:
    """Return the mode of a path, without following a symlink; 0 for a missing path."""
    try:
        return os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0


def _write_all(folder: Path, contents: list[bytes]) -> list[bytes]:
    paths = []
    for number, content in enumerate(contents):
        path = folder / str(number)
        path.write_bytes(content)
        paths.append(os.fsencode(path))
    return paths


def _shown(error: OSError) -> str:
    return safe_line(os.fsdecode(error.filename or ""), 200)
