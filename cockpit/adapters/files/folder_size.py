"""Measure how much disk space a folder uses.

Counts what `du -x` counts: allocated blocks, hard links once, no other file system, no targets of
symlinks. The result is a lower bound if a limit was reached or a folder inside cannot be read.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from pathlib import Path

from cockpit.core.deferred_dataclass import dataclass

BLOCK = 512
"""Bytes per unit of `st_blocks`; does not depend on the file system's block size."""
_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class FolderSize:
    """The disk space of a folder with everything in it."""

    size: int
    """Bytes that the folder and everything in it occupy on the disk."""
    complete: bool
    """False if a limit was reached or a part is unreadable; then the folder may be larger."""


def folder_size(
    folder: Path,
    seconds: float,
    most: int,
    cancelled: Callable[[], bool],
    now: Callable[[], float] = time.monotonic,
) -> FolderSize:
    """Return the disk space of a folder; blocks while it reads.

    Stops after `seconds`, after `most` files and folders, or when `cancelled` returns True. Raises
    `OSError` if the folder itself cannot be read.
    """
    end = now() + seconds
    total, count, complete = 0, 0, True
    linked: set[int] = set()
    device: int | None = None
    waiting = [os.fspath(folder)]
    while waiting:
        path = waiting.pop()
        try:
            opened = os.open(path, _FLAGS)
        except FileNotFoundError:  # deleted since its parent was read
            if device is None:
                raise
            continue
        except OSError:
            if device is None:
                raise
            complete = False
            continue
        try:
            status = os.fstat(opened)
            device = status.st_dev if device is None else device
            if status.st_dev != device:
                continue
            total += status.st_blocks * BLOCK
            with os.scandir(opened) as entries:
                for entry in entries:
                    if count >= most or now() >= end or cancelled():
                        return FolderSize(total, complete=False)
                    count += 1
                    try:
                        state = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue
                    if state.st_dev != device:
                        continue
                    if stat.S_ISDIR(state.st_mode):
                        waiting.append(os.path.join(path, entry.name))  # noqa: PTH118 - hot loop
                    elif state.st_ino not in linked:
                        total += state.st_blocks * BLOCK
                        if state.st_nlink > 1:
                            linked.add(state.st_ino)
        except OSError:
            complete = False
        finally:
            os.close(opened)
    return FolderSize(total, complete)
