"""Find the processes that hold locks on files, and the files that a process has open. Linux only.

On other systems nothing is found. Another user's processes are never found: their open files cannot
be read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from cockpit.adapters.process.process_table import PROC
from cockpit.config.kernel import USES_LINUX

_LOCK_FIELDS = 6
"""Minimum number of words in a line of /proc/locks."""


def has_open(pid: int, file: os.stat_result) -> bool:
    """Return whether the process has exactly this file open."""
    return any(_is_same(descriptor, file) for descriptor in _descriptors(pid))


def open_paths(pid: int) -> Iterator[Path]:
    """Yield the paths of the files that the process has open; other descriptors are left out."""
    for descriptor in _descriptors(pid):
        with suppress(OSError):
            path = descriptor.readlink()
            if path.is_absolute():
                yield path


def lock_holders(files: Iterable[os.stat_result]) -> Mapping[int, int]:
    """Return the pids of the processes that hold a `flock` on these files, by the file's inode.

    On some file systems, the device in the kernel's list differs from the file's. So locks are
    matched by inode, and a process counts only if it has the file open.
    """
    by_inode = {file.st_ino: file for file in files}
    holders: dict[int, int] = {}
    for inode, pid in _locks() if by_inode else ():
        file = by_inode.get(inode)
        if file is not None and pid > 0 and has_open(pid, file):
            holders[inode] = pid
    return holders


def _locks() -> Iterator[tuple[int, int]]:
    """Yield the inode and the pid of each `flock` that is held; waiting processes are left out."""
    try:
        lines = (PROC / "locks").read_text(errors="replace").splitlines() if USES_LINUX else []
    except OSError:
        return
    for line in lines:
        words = line.split()
        if len(words) >= _LOCK_FIELDS and words[1] == "FLOCK":
            with suppress(ValueError):
                yield int(words[5].rpartition(":")[2]), int(words[4])


def _descriptors(pid: int) -> Iterator[Path]:
    with suppress(OSError):
        yield from (PROC / str(pid) / "fd").iterdir() if USES_LINUX else ()


def _is_same(descriptor: Path, file: os.stat_result) -> bool:
    try:
        return os.path.samestat(descriptor.stat(), file)
    except OSError:
        return False
