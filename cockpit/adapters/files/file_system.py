"""Sync file systems, files and folders to disk."""

from __future__ import annotations

import ctypes
import fcntl
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

from cockpit.config.kernel import USES_LINUX

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def sync_file_systems(folders: Iterable[Path]) -> None:
    """Sync the file systems of these folders. Raises `OSError`. Blocks.

    On macOS, syncs all file systems, because the system cannot sync a single one.
    """
    done: set[int] = set()
    for folder in folders:
        descriptor = os.open(folder, _FOLDER)
        try:
            device = os.fstat(descriptor).st_dev
            if device not in done:
                _sync(descriptor, folder)
                done.add(device)
        finally:
            os.close(descriptor)


def sync_descriptor(descriptor: int) -> None:
    """Sync an open file or folder to disk. Raises `OSError`.

    On macOS `fsync` leaves the data in the disk's cache, which a power failure erases.
    """
    if sys.platform == "darwin":
        with suppress(OSError):  # not supported by every file system
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
            return
    os.fsync(descriptor)


def _sync(descriptor: int, folder: Path) -> None:
    if not USES_LINUX:
        os.sync()
        sync_descriptor(descriptor)
        return
    if _library().syncfs(descriptor):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(folder))


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
