"""Sync whole file systems to disk."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from cockpit.config.kernel import USES_LINUX

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def sync_file_systems(folders: Iterable[Path]) -> None:
    """Sync the file systems of these folders. Raises `OSError`. Blocks.

    Where the system can only sync all file systems at once (macOS), it syncs all.
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


def _sync(descriptor: int, folder: Path) -> None:
    if not USES_LINUX:
        os.sync()
        return
    if _library().syncfs(descriptor):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(folder))


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
