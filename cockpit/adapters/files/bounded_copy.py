"""Copy files that an agent can change: refuse symlinks, and limit size, number and time."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from cockpit.adapters.files.foreign_files import open_file
from cockpit.core.errors import Failed
from cockpit.core.safetext import safe_line

MOST_BYTES = 256 * 1024 * 1024
"""Maximum bytes of all files together."""
MOST_FILES = 2000
"""Maximum number of files and subfolders."""
DEEPEST = 8
_CHUNK = 1024 * 1024
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class BoundedCopy:
    """One copy of some files and folders, with limits for all of them together.

    All methods block. They raise `Failed` with the reason: a limit, a symlink, or a disk error.
    """

    def __init__(self) -> None:
        self._stopped = False
        self._bytes = 0
        self._files = 0

    def stop(self) -> None:
        """Stop the copy after the current part of a file. Can be called from another thread."""
        self._stopped = True

    def file(self, source: Path, target: Path) -> None:
        """Copy one file. `target` must not exist."""
        try:
            self._file(open_file(source, follow_links=False), target, (b"", b""))
        except OSError as error:
            raise _failed(source, error) from None

    def parts(
        self, folder: Path, names: Sequence[str], target: Path, change: tuple[bytes, bytes]
    ) -> None:
        """Copy these files and folders to a new folder; skip missing ones.

        In the files of `names`, the first text of `change` is replaced by the second, which has the
        same length. The contents of folders are not changed.
        """
        try:
            at = os.open(folder, _FOLDER)
            try:
                target.mkdir(mode=0o700)
                for name in names:
                    with suppress(FileNotFoundError):
                        self._entry(at, name, target / name, change, 0)
                self._check()
            finally:
                os.close(at)
        except OSError as error:
            raise _failed(folder, error) from None

    def _entry(
        self, at: int, name: str, target: Path, change: tuple[bytes, bytes], depth: int
    ) -> None:
        if not stat.S_ISDIR(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode):
            self._file(open_file(name, dir_fd=at, follow_links=False), target, change)
            return
        self._count()
        if depth == DEEPEST:
            raise _too_large(f"The session's folders are nested more than {DEEPEST} deep.")
        inner = os.open(name, _FOLDER, dir_fd=at)
        try:
            target.mkdir(mode=0o700)
            with os.scandir(inner) as entries:
                for entry in entries:
                    self._entry(inner, entry.name, target / entry.name, (b"", b""), depth + 1)
        finally:
            os.close(inner)

    def _file(self, descriptor: int, target: Path, change: tuple[bytes, bytes]) -> None:
        with os.fdopen(descriptor, "rb") as file, target.open("xb") as copy:
            self._count()
            if self._bytes + os.fstat(descriptor).st_size > MOST_BYTES:
                raise _too_large(f"The session is larger than {MOST_BYTES // 1024**2} MiB.")
            self._content(file, copy, change)

    def _content(self, file: BinaryIO, copy: BinaryIO, change: tuple[bytes, bytes]) -> None:
        old, new = change
        rest = b""
        while part := file.read(_CHUNK):
            self._check()
            self._bytes += len(part)
            if self._bytes > MOST_BYTES:
                raise _too_large(f"The session is larger than {MOST_BYTES // 1024**2} MiB.")
            text = rest + part
            if old:
                text = text.replace(old, new)
            # The old text may be split between two parts.
            rest = text[max(len(text) - len(old) + 1, 0) :] if old else b""
            copy.write(text[: len(text) - len(rest)])
        copy.write(rest)
        self._check()

    def _count(self) -> None:
        self._check()
        self._files += 1
        if self._files > MOST_FILES:
            raise _too_large(f"The session has more than {MOST_FILES} files and folders.")

    def _check(self) -> None:
        if self._stopped:
            raise Failed(
                "The session was not copied in time", hint="Try again when the disk is less busy."
            )


async def run_copy(work: Callable[[BoundedCopy], None]) -> None:
    """Run a copy on a thread; stop the copy if the caller is cancelled, such as by a time limit."""
    copy = BoundedCopy()
    try:
        await asyncio.to_thread(work, copy)
    finally:
        copy.stop()


def _too_large(detail: str) -> Failed:
    return Failed(
        "The session is too large to copy",
        detail,
        hint="Hand the agent off; a new session has a short transcript.",
    )


def _failed(path: Path, error: OSError) -> Failed:
    named = safe_line(str(error.filename or path))
    return Failed(
        "Cannot copy the session",
        f"{named}: {error.strerror or error}.",
        hint="Check the folder's permissions and the free disk space.",
    )
