"""Notify when a file directly in a folder was written, replaced, removed or created.

If the folder does not exist yet, the nearest existing parent is watched until the folder is
created. Without inotify, the folder is polled every two seconds. The callback does not get the name
of the file, and may be called without a change.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from cockpit.adapters.files.inotify import (
    CLOSED_AFTER_WRITING,
    CREATED,
    FOLDER_GONE,
    MODIFIED,
    MOVED_TO,
    REMOVED,
    Event,
    FolderWatch,
)

POLL_SECONDS = 2.0
_ENTRIES = CLOSED_AFTER_WRITING | CREATED | MOVED_TO | REMOVED


def watch_entries(
    folder: Path, call: Callable[[], None], *, open_files: bool = False
) -> Callable[[], None]:
    """Run `call` on the running event loop when an entry may have changed; return a function that
    ends the watch.

    With `open_files`, also runs `call` at each write to an open file; this can be often.
    """
    try:
        return _by_inotify(folder, call, _ENTRIES | (MODIFIED if open_files else 0))
    except OSError:
        return poll_entries(folder, call)


def _by_inotify(folder: Path, call: Callable[[], None], mask: int) -> Callable[[], None]:
    watch = FolderWatch()
    inside: int | None = None

    def look_there() -> None:
        nonlocal inside
        with suppress(OSError):
            inside = watch.add(folder, mask)
            return
        inside = None
        parent = next(ancestor for ancestor in folder.parents if ancestor.is_dir())
        watch.add(parent, CREATED | MOVED_TO)
        with suppress(OSError):  # the folder may have been created meanwhile
            inside = watch.add(folder, mask)

    def is_of_interest(event: Event) -> bool:
        if event.watch != inside or event.mask & FOLDER_GONE:
            was = inside
            with suppress(OSError):
                look_there()
            return event.lost or inside != was or event.watch == was
        return True

    try:
        look_there()
    except OSError:
        watch.close()
        raise
    return watch.follow(is_of_interest, call)


def poll_entries(folder: Path, call: Callable[[], None]) -> Callable[[], None]:
    """Like `watch_entries`, by polling the files' modification times."""
    loop = asyncio.get_running_loop()
    last = _stamps(folder)
    timer: asyncio.TimerHandle

    def look() -> None:
        nonlocal last, timer
        timer = loop.call_later(POLL_SECONDS, look)
        now = _stamps(folder)
        if now != last:
            last = now
            call()

    timer = loop.call_later(POLL_SECONDS, look)
    return lambda: timer.cancel()


def _stamps(folder: Path) -> dict[str, tuple[int, int]]:
    stamps = {}
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                seen = entry.stat(follow_symlinks=False)
                stamps[entry.name] = (seen.st_mtime_ns, seen.st_ino)
    return stamps
