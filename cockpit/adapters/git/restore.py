"""Write the files of a commit to a folder, byte for byte.

`git checkout`, `git restore` and `git archive` change content: attributes convert line endings and
encodings, expand `$Id$` and run filters.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cockpit.adapters.git.command import GitAnswer, GitCommand
from cockpit.adapters.git.proof import object_digest
from cockpit.adapters.git.raw_files import GITLINK, LINK, PROGRAM
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import BadUsage, Failed
from cockpit.core.safetext import safe_line

AT_ONCE = 32_000_000
"""Maximum bytes of files for one git call; a larger file gets its own call."""
SMALLEST = 512
"""A smaller file counts as this many bytes toward `AT_ONCE`, which limits the number of small files
per call."""
DEADLINE = 300.0


@dataclass(frozen=True, slots=True)
class _Blob:
    name: bytes
    mode: str
    held: str
    size: int


class GitRestore:
    """Writes the files of commits to folders, byte for byte."""

    def __init__(self, command: GitCommand) -> None:
        self.command = command

    async def restore(self, repository: Path, reference: str, folder: Path) -> int:
        """Write the files of a reference's commit to a folder; return the number of files.

        `folder` must be new, empty, or contain only a `.git`. A submodule becomes an empty folder.
        Overwrites nothing. Raises `CockpitError`.
        """
        arguments = ("rev-parse", "--verify", "-q", "--end-of-options", f"{reference}^{{tree}}")
        tree = await self.command.run(repository, *arguments)
        if not tree.ok:
            raise BadUsage(
                f"There is no {safe_line(reference, 200)!a} in {safe_line(str(repository))}",
                "",
                "To list the saved worktrees: git for-each-ref refs/cockpit",
            )
        listing = ("ls-tree", "-r", "-z", "-l", "--full-tree", tree.line)
        listed = self._held(await self.command.run(repository, *listing, deadline=DEADLINE))
        blobs = list(_blobs(listed.output))
        _check_names(blobs)
        modules = [blob for blob in blobs if blob.mode == GITLINK]
        files = [blob for blob in blobs if blob.mode not in (GITLINK, LINK)]
        links = [blob for blob in blobs if blob.mode == LINK]
        top = await asyncio.to_thread(_open_empty, folder)
        try:
            await asyncio.to_thread(_make_folders, top, [module.name for module in modules])
            # Links are created last; no path to a file follows a link in any case.
            for some in (*_portions(files), *_portions(links)):
                ids = "\n".join(blob.held for blob in some).encode() + b"\n"
                answer = self._held(
                    await self.command.run(
                        repository, "cat-file", "--batch", stdin=ids, deadline=DEADLINE
                    )
                )
                await asyncio.to_thread(_write, top, some, answer.output)
        except OSError as error:
            raise Failed(
                f"{safe_line(str(folder))} is incomplete",
                f"{safe_line(os.fsdecode(error.filename or ''), 200)}: {error.strerror}",
                "Delete this folder, and restore to another folder.",
            ) from error
        finally:
            os.close(top)
        return len(files) + len(links)

    def _held(self, answer: GitAnswer) -> GitAnswer:
        if not answer.ok:
            raise Failed(
                "git cannot read the saved worktree", answer.error, "Check the repository: git fsck"
            )
        return answer


def _open_empty(folder: Path) -> int:
    """Open the folder, and create it if it is missing. Raises `BadUsage` for a symlink or a folder
    with files."""
    try:
        above = os.open(folder.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            top = _open_subfolder(above, os.fsencode(folder.name))
        finally:
            os.close(above)
    except OSError as error:
        raise BadUsage(
            f"Cannot use {safe_line(str(folder))}",
            "The path is a link." if folder.is_symlink() else str(error.strerror),
            "Choose a new folder.",
        ) from error
    with os.scandir(top) as listed:
        names = {entry.name for entry in listed}
    if names - {".git"}:
        os.close(top)
        raise BadUsage(
            f"{safe_line(str(folder))} is not empty",
            "Nothing is overwritten.",
            "Choose a new folder, or create a worktree with git worktree add --no-checkout.",
        )
    return top


def _open_subfolder(above: int, name: bytes) -> int:
    """Open a subfolder of an open folder, and create it if it is missing. Raises `OSError` for a
    symlink."""
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=above)
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(name, flags, dir_fd=above)


@contextmanager
def _folder(top: int, parts: list[bytes]) -> Iterator[int]:
    """Yield the descriptor of a folder below an open folder; creates missing folders and follows no
    symlink."""
    at = os.dup(top)
    try:
        for part in parts:
            inner = _open_subfolder(at, part)
            os.close(at)
            at = inner
        yield at
    finally:
        os.close(at)


def _check_names(blobs: list[_Blob]) -> None:
    """Raise `Failed` for names that git itself never writes, but that another program can put into
    a tree."""
    links = {blob.name for blob in blobs if blob.mode == LINK}
    for blob in blobs:
        parts = blob.name.split(b"/")
        above = (b"/".join(parts[:end]) for end in range(1, len(parts)))
        odd = any(part in (b"", b".", b"..") or part.lower() == b".git" for part in parts)
        if odd or not links.isdisjoint(above):
            name = safe_line(os.fsdecode(blob.name), 200)
            raise Failed(
                f"{name!a} is not a valid file name",
                "The name points outside the folder, or into .git.",
                hint="Nothing was restored. The file is in the commit; copy the file "
                "manually: git show",
            )


def _blobs(listed: bytes) -> Iterator[_Blob]:
    for line in listed.split(b"\0")[:-1]:
        header, _, name = line.partition(b"\t")
        mode, _, held, size = header.decode("ascii").split()
        yield _Blob(name, mode, held, int(size) if size.isdecimal() else 0)


def _portions(blobs: list[_Blob]) -> Iterator[list[_Blob]]:
    some: list[_Blob] = []
    left = AT_ONCE
    for blob in blobs:
        weight = max(blob.size, SMALLEST)
        if some and weight > left:
            yield some
            some, left = [], AT_ONCE
        some.append(blob)
        left -= weight
    if some:
        yield some


def _make_folders(top: int, names: list[bytes]) -> None:
    for name in names:
        with _folder(top, name.split(b"/")):
            pass


def _write(top: int, blobs: list[_Blob], output: bytes) -> None:
    """Write each file from the output of `cat-file --batch`. Raises `Failed` for a missing or
    damaged object.
    """
    at = 0
    for blob in blobs:
        end = output.find(b"\n", at)
        header = output[at:end].split() if end >= 0 else []
        size = int(header[2]) if len(header) == 3 else 0
        content = output[end + 1 : end + 1 + size]
        digest = object_digest(blob.held, b"blob", len(content))
        digest.update(content)
        if len(header) != 3 or digest.hexdigest() != blob.held:
            raise Failed(
                f"The repository no longer contains {safe_line(os.fsdecode(blob.name), 200)}",
                f"Object {blob.held} is missing or damaged. Later files were not written.",
                "Check the repository: git fsck",
            )
        at = end + size + 2
        *parts, name = blob.name.split(b"/")
        with _folder(top, parts) as folder:
            if blob.mode == LINK:
                os.symlink(content, name, dir_fd=folder)
                continue
            mode = 0o777 if blob.mode == PROGRAM else 0o666
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(name, flags, mode, dir_fd=folder), "wb") as file:
                file.write(content)
