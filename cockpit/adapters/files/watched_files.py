"""Notify when one of a few files may have changed: written, replaced, removed or created.

The files' folders are watched, because editors replace files. For a symbolic link, both the link
and its target are watched. Without inotify, the files are polled every two seconds. The callback
does not get the name of the file, and may be called without a change.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from cockpit.adapters.files.inotify import Event, FolderWatch

POLL_SECONDS = 2.0

_CLOSED_AFTER_WRITING = 0x00000008
_MODE = 0x00000004
_MOVED = 0x000000C0
_CAME_OR_WENT = 0x00000300
_ANY = _CLOSED_AFTER_WRITING | _MODE | _MOVED | _CAME_OR_WENT


def watch_files(files: Sequence[Path], call: Callable[[], None]) -> Callable[[], None]:
    """Run `call` on the running event loop when a file may have changed; return a function that
    ends the watch."""
    try:
        return _by_inotify(files, call)
    except OSError:
        return poll_files(files, call)


def _by_inotify(files: Sequence[Path], call: Callable[[], None]) -> Callable[[], None]:
    watch = FolderWatch()
    names: dict[int, set[str]] = {}

    def look_there() -> None:
        for file in files:
            for place in _ends(file):
                folder, name = _nearest(place)
                with suppress(OSError):
                    names.setdefault(watch.add(folder, _ANY), set()).add(name)

    def is_of_interest(event: Event) -> bool:
        matches = event.lost or event.name in names.get(event.watch, ())
        if matches:
            look_there()  # a folder may have been created, or a link may point elsewhere
        return matches

    look_there()
    return watch.follow(is_of_interest, call)


def _ends(file: Path) -> Iterator[Path]:
    """Yield the file's own path, and the target's path if the file is a symlink."""
    yield file
    if (target := Path(os.path.realpath(file))) != file:
        yield target


def _nearest(file: Path) -> tuple[Path, str]:
    """Return the nearest existing folder above a path, and the name of the next part of the
    path."""
    name = file.name
    for folder in file.parents:
        if folder.is_dir():
            return folder, name
        name = folder.name
    return Path("/"), name


def poll_files(files: Sequence[Path], call: Callable[[], None]) -> Callable[[], None]:
    """Like `watch_files`, by polling modification times."""
    loop = asyncio.get_running_loop()
    last = [_stamp(file) for file in files]
    timer: asyncio.TimerHandle

    def look() -> None:
        nonlocal last, timer
        timer = loop.call_later(POLL_SECONDS, look)
        now = [_stamp(file) for file in files]
        if now != last:
            last = now
            call()

    timer = loop.call_later(POLL_SECONDS, look)
    return lambda: timer.cancel()


def _stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        entry = file.stat()
    except OSError:
        return None
    return entry.st_mtime_ns, entry.st_ino, entry.st_mode
