"""Check whether files can be written in a folder, without writing one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

LEAST_BYTES = 1_000_000
"""With less free space the disk counts as full: a document and a database row need more."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """The reason that nothing can be written in a folder, with the remedy."""

    why: str
    """A clause that can follow the folder's name."""
    remedy: str


def obstacle(folder: Path) -> Obstacle | None:
    """Return what prevents writing; None if nothing does, or if the folder does not exist."""
    try:
        found = os.statvfs(folder)
        may_write = os.access(folder, os.W_OK | os.X_OK)
    except OSError:
        return None
    if found.f_flag & os.ST_RDONLY:
        return Obstacle("is on a file system that is mounted read-only", "Mount it writable")
    free = (found.f_bfree if os.geteuid() == 0 else found.f_bavail) * found.f_frsize
    if found.f_blocks and free < LEAST_BYTES:
        return Obstacle("is on a disk that is full", f"Free some space: df -h {folder}")
    if found.f_files and found.f_ffree == 0:
        return Obstacle("is on a disk with no room for another file", f"Look: df -i {folder}")
    if not may_write:
        return Obstacle("may not be written by you", f"Look: ls -ld {folder}")
    return None
