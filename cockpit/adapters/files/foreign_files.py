"""Open and read files whose path an agent or a repository can choose.

Such a path may lead to a named pipe, a device, a socket, another user's file or a sparse file of a
terabyte. Only a regular file of this user or root is opened, without blocking, and reads are
limited. A file system may still hang, so run these calls through `bounded_calls`, not on the event
loop.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a directory",
    stat.S_IFLNK: "a symbolic link",
}


class NotPlain(OSError):
    """The path is not a regular file of this user or root, or the file is too large.

    `strerror` is a clause that can follow the path: "is a named pipe, not a file".
    """


def open_file(
    path: str | Path,
    *,
    follow_links: bool = True,
    any_owner: bool = False,
    dir_fd: int | None = None,
) -> int:
    """Open a regular file for reading; the caller closes the descriptor.

    Checks before opening, because opening a device can have an effect, and again afterwards,
    because the path may have changed. Use `any_owner` for a path that the user typed. Raises
    `NotPlain`, or the file system's `OSError`.
    """
    _check(path, os.stat(path, dir_fd=dir_fd, follow_symlinks=follow_links), any_owner)
    flags = _FLAGS if follow_links else _FLAGS | os.O_NOFOLLOW
    descriptor = os.open(path, flags, dir_fd=dir_fd)
    try:
        _check(path, os.fstat(descriptor), any_owner)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def opened(
    path: str | Path,
    *,
    most: int | None = None,
    follow_links: bool = True,
    any_owner: bool = False,
) -> Iterator[BinaryIO]:
    """Open a regular file for reading. Raises `NotPlain` for a file that is larger than `most`
    bytes.

    Without `most`, the caller limits how much is read.
    """
    descriptor = open_file(path, follow_links=follow_links, any_owner=any_owner)
    with os.fdopen(descriptor, "rb") as file:
        if most is not None and os.fstat(descriptor).st_size > most:
            raise _not_plain(path, f"is larger than {_size(most)}")
        yield file


def read_file(
    path: str | Path,
    most: int,
    *,
    cut: bool = False,
    follow_links: bool = True,
    any_owner: bool = False,
) -> bytes:
    """Return a regular file's content, at most `most` bytes.

    For a longer file, raises `NotPlain`; with `cut`, returns the file's beginning.
    """
    with opened(path, follow_links=follow_links, any_owner=any_owner) as file:
        data = file.read(most + 1)
    if len(data) > most:
        if not cut:
            raise _not_plain(path, f"is larger than {_size(most)}")
        return data[:most]
    return data


def read_text(path: str | Path, most: int, *, cut: bool = False, follow_links: bool = True) -> str:
    """Return a regular file's text, read as by `read_file`; bytes that are not UTF-8 are
    replaced."""
    data = read_file(path, most, cut=cut, follow_links=follow_links)
    return data.decode("utf-8", "replace")


def is_file(path: str | Path) -> bool:
    """Return whether the path, with symlinks followed, is a file that `open_file` accepts.

    Does not check whether the file may be read. Never raises.
    """
    try:
        _check(path, Path(path).stat(), any_owner=False)
    except (OSError, ValueError):
        return False
    return True


def stamp(path: str | Path) -> tuple[int, int]:
    """Return the file's size and its modification time in nanoseconds. Raises `OSError`."""
    state = Path(path).stat()
    return state.st_size, state.st_mtime_ns


def _check(path: str | Path, entry: os.stat_result, any_owner: bool) -> None:
    kind = stat.S_IFMT(entry.st_mode)
    if kind != stat.S_IFREG:
        raise _not_plain(path, f"is {_KINDS.get(kind, 'something else')}, not a file")
    if not any_owner and entry.st_uid not in (os.geteuid(), 0):
        raise _not_plain(path, f"belongs to another user (uid {entry.st_uid})")


def _not_plain(path: str | Path, reason: str) -> NotPlain:
    return NotPlain(errno.EINVAL, reason, os.fspath(path))


def _size(most: int) -> str:
    for unit, size in (("GiB", 1024**3), ("MiB", 1024**2), ("KiB", 1024)):
        if most >= size:
            return f"{most // size} {unit}"
    return f"{most} bytes"
