"""Open and read files whose path an agent, a repository or a worktree can name.

Such a path may lead to a named pipe, a device, a socket, another user's file or a sparse file of a
terabyte. Only a regular file of ours (or of root's) is opened, never blocking, and never more than
a stated number of bytes is read. A file system that hangs is another matter: run these calls
through `bounded_calls`, off the event loop.
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
    """The path leads to something other than a regular file of ours, or to one that is too large.

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

    Looks before it opens, because opening a device can have an effect, and again afterwards,
    because the path may lead elsewhere by then. `any_owner` is for a path that the user typed.
    Raises `NotPlain`, or the `OSError` of the file system.
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
    """Open a regular file for reading; one larger than `most` bytes is refused.

    Without `most` the caller bounds what is read of it.
    """
    descriptor = open_file(path, follow_links=follow_links, any_owner=any_owner)
    with os.fdopen(descriptor, "rb") as file:
        if most is not None and os.fstat(descriptor).st_size > most:
            raise _not_plain(path, f"has more than {_size(most)}")
        yield file


def read_file(
    path: str | Path,
    most: int,
    *,
    cut: bool = False,
    follow_links: bool = True,
    any_owner: bool = False,
) -> bytes:
    """Read a regular file of at most `most` bytes.

    A longer one raises `NotPlain`, or with `cut` gives its beginning.
    """
    with opened(path, follow_links=follow_links, any_owner=any_owner) as file:
        data = file.read(most + 1)
    if len(data) > most:
        if not cut:
            raise _not_plain(path, f"has more than {_size(most)}")
        return data[:most]
    return data


def read_text(path: str | Path, most: int, *, cut: bool = False, follow_links: bool = True) -> str:
    """Read a regular file as UTF-8; bytes that are not are replaced."""
    data = read_file(path, most, cut=cut, follow_links=follow_links)
    return data.decode("utf-8", "replace")


def is_file(path: str | Path) -> bool:
    """Whether `open_file` would open it, links followed. Never raises."""
    try:
        _check(path, Path(path).stat(), any_owner=False)
    except (OSError, ValueError):
        return False
    return True


def _check(path: str | Path, found: os.stat_result, any_owner: bool) -> None:
    kind = stat.S_IFMT(found.st_mode)
    if kind != stat.S_IFREG:
        raise _not_plain(path, f"is {_KINDS.get(kind, 'something else')}, not a file")
    if not any_owner and found.st_uid not in (os.geteuid(), 0):
        raise _not_plain(path, f"belongs to another user (uid {found.st_uid})")


def _not_plain(path: str | Path, words: str) -> NotPlain:
    return NotPlain(errno.EINVAL, words, os.fspath(path))


def _size(most: int) -> str:
    for unit, size in (("GiB", 1024**3), ("MiB", 1024**2), ("KiB", 1024)):
        if most >= size:
            return f"{most // size} {unit}"
    return f"{most} bytes"
