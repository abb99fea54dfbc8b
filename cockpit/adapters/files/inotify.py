"""Notify when a file appears in a folder or one of its subfolders.

Only names created by a rename count, because complete files arrive that way. Without inotify (other
systems, exhausted limits) it polls four times a second. It does not report which file: the caller
looks, and may find nothing new.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from cockpit.config.kernel import USES_LINUX

POLL_SECONDS = 0.25

_MOVED_TO = 0x00000080
_CREATE = 0x00000100
_ONLY_FOLDERS = 0x01000000
_IS_FOLDER = 0x40000000
_QUEUE_OVERFLOWED = 0x00004000
_HEAD = struct.Struct("iIII")


def watch_folder(folder: Path, call: Callable[[], None]) -> Callable[[], None]:
    """Call on the running event loop when a file arrived; return a function that stops it."""
    try:
        watch = _Inotify(folder)
    except OSError:
        return poll_folder(folder, call)
    loop = asyncio.get_running_loop()

    def readable() -> None:
        if watch.read():
            call()

    def stop() -> None:
        if watch.descriptor >= 0:
            loop.remove_reader(watch.descriptor)
            watch.close()

    loop.add_reader(watch.descriptor, readable)
    return stop


class Event(NamedTuple):
    """One inotify event."""

    watch: int
    """As returned by `Watch.add`; -1 if unknown."""
    mask: int
    name: str
    """Name in the folder; empty for the folder itself."""

    @property
    def lost(self) -> bool:
        """Whether the kernel dropped events."""
        return bool(self.mask & _QUEUE_OVERFLOWED)


class Watch:
    """One inotify descriptor. Raises `OSError` where the kernel has none."""

    def __init__(self) -> None:
        self._libc = _libc()
        self.descriptor: int = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.descriptor < 0:
            raise OSError(ctypes.get_errno(), "inotify_init1")

    def add(self, folder: Path, mask: int) -> int:
        """Watch a folder; a second call returns the same watch. Raises `OSError`."""
        watch: int = self._libc.inotify_add_watch(
            self.descriptor, os.fsencode(folder), mask | _ONLY_FOLDERS
        )
        if watch < 0:
            raise OSError(ctypes.get_errno(), f"inotify_add_watch {folder}")
        return watch

    def events(self) -> list[Event]:
        """Return the events since the last call."""
        try:
            data = os.read(self.descriptor, 65536)
        except OSError:
            return []
        found, place = [], 0
        while place < len(data):
            watch, mask, _, length = _HEAD.unpack_from(data, place)
            place += _HEAD.size + length
            name = data[place - length : place].rstrip(b"\0")
            found.append(Event(watch, mask, os.fsdecode(name)))
        return found

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


class _Inotify(Watch):
    """Watches a folder and its subfolders, one level deep."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        try:
            self._root = self.add(folder, _CREATE | _MOVED_TO)
            self._add_folders()
        except OSError:
            self.close()
            raise

    def read(self) -> bool:
        """Read the events; return whether any of them matters."""
        of_interest = new_folders = False
        for watch, mask, _ in self.events():
            new_folders |= bool(mask & (_IS_FOLDER | _QUEUE_OVERFLOWED)) and watch in (
                self._root,
                -1,
            )
            of_interest |= bool(mask & (_MOVED_TO | _QUEUE_OVERFLOWED)) and watch != self._root
        if new_folders:
            # Files that arrived in a new folder before it was watched are found by looking.
            self._add_folders()
        return of_interest or new_folders

    def _add_folders(self) -> None:
        for entry in os.scandir(self._folder):
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                self.add(Path(entry.path), _MOVED_TO)


def _libc() -> ctypes.CDLL:
    if not USES_LINUX:
        raise OSError("inotify is not used")
    return ctypes.CDLL(None, use_errno=True)


def poll_folder(folder: Path, call: Callable[[], None]) -> Callable[[], None]:
    """Like `watch_folder`, by polling the folders' modification times."""
    loop = asyncio.get_running_loop()
    last = _times(folder)
    timer: asyncio.TimerHandle

    def look() -> None:
        nonlocal last, timer
        now = _times(folder)
        timer = loop.call_later(POLL_SECONDS, look)
        # Two changes within one clock tick leave the same time.
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
