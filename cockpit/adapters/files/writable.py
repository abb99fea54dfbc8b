"""Check whether files can be written in a folder, without writing a file."""

from __future__ import annotations

import os
from pathlib import Path

from cockpit.core.deferred_dataclass import dataclass

LEAST_BYTES = 1_000_000
"""Minimum free bytes; with less, cockpit reports the disk as full. A document and a database row
need this much."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """The reason that a folder is not writable, with the remedy."""

    why: str
    """The reason, as a clause that can follow the folder's name."""
    remedy: str


def obstacle(folder: Path) -> Obstacle | None:
    """Return the reason that a folder is not writable; None if the folder is writable or cannot be
    examined, for example because it does not exist."""
    try:
        volume = os.statvfs(folder)
        may_write = os.access(folder, os.W_OK | os.X_OK)
    except OSError:
        return None
    if volume.f_flag & os.ST_RDONLY:
        return Obstacle(
            "is on a file system that is mounted read-only", "Mount the file system writable"
        )
    free = (volume.f_bfree if os.geteuid() == 0 else volume.f_bavail) * volume.f_frsize
    if volume.f_blocks and free < LEAST_BYTES:
        return Obstacle("is on a disk that is full", f"Free some space: df -h {folder}")
    if volume.f_files and volume.f_ffree == 0:
        return Obstacle("is on a disk without free inodes", f"To check: df -i {folder}")
    if not may_write:
        return Obstacle("is not writable by you", f"To check: ls -ld {folder}")
    return None
