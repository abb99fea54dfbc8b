"""Notify when a file appears in a subfolder of a folder, or when a subfolder is created.

Only files that are renamed into a subfolder are reported, because writers rename complete files.
Without inotify (other systems, exhausted limits), the folder is polled four times a second. The
callback does not get the name of the file, and may be called without a new file.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from cockpit.adapters.files.inotify import CREATED, IS_FOLDER, MOVED_TO, Event, FolderWatch

POLL_SECONDS = 0.25


def watch_folder(folder: Path, call: Callable[[], None]) -> Callable[[], None]:
    """Run `call` on the running event loop when a file or a subfolder may have appeared; return a
    function that ends the watch."""
    try:
        return _by_inotify(folder, call)
    except OSError:
        return poll_folder(folder, call)


def _by_inotify(folder: Path, call: Callable[[], None]) -> Callable[[], None]:
    watch = FolderWatch()

    def add_subfolders() -> None:
        for entry in os.scandir(folder):
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                watch.add(Path(entry.path), MOVED_TO)

    def is_of_interest(event: Event) -> bool:
        if event.lost or (event.watch == root and event.mask & IS_FOLDER):
            # `call` reads a new folder, and so finds files that appeared before the watch.
            with suppress(OSError):
                add_subfolders()
            return True
        return bool(event.mask & MOVED_TO) and event.watch != root

    try:
        root = watch.add(folder, CREATED | MOVED_TO)
        add_subfolders()
    except OSError:
        watch.close()
        raise
    return watch.follow(is_of_interest, call)


def poll_folder(folder: Path, call: Callable[[], None]) -> Callable[[], None]:
    """Like `watch_folder`, by polling the folders' modification times."""
    loop = asyncio.get_running_loop()
    last = _times(folder)
    timer: asyncio.TimerHandle

    def look() -> None:
        nonlocal last, timer
        now = _times(folder)
        timer = loop.call_later(POLL_SECONDS, look)
        # Two changes within one clock tick have the same time.
        fresh = time.time_ns() - 2 * POLL_SECONDS * 1e9
        if now != last or any(changed > fresh for changed in now.values()):
            last = now
            call()

    timer = loop.call_later(POLL_SECONDS, look)
    return lambda: timer.cancel()


def _times(folder: Path) -> dict[str, int]:
    try:
        return {
            entry.name: entry.stat().st_mtime_ns for entry in os.scandir(folder) if entry.is_dir()
        }
    except OSError:
        return {}
