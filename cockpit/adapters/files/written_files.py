"""Notify which of many files were written, created or replaced, by inotify on their folders.

A write is reported within a millisecond, and a file that does not change costs nothing.
Writes of another machine to a network file system are not reported, so the caller must also check
the files from time to time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from cockpit.adapters.files.inotify import (
    CREATED,
    FOLDER_GONE,
    MODIFIED,
    MOVED_TO,
    Event,
    FolderWatch,
)

_MASK = MODIFIED | CREATED | MOVED_TO


class WrittenFiles:
    """A changing set of watched files. Raises `OSError` without inotify."""

    def __init__(self) -> None:
        self._watch = FolderWatch()
        self._keys: dict[Path, tuple[int, str]] = {}
        """The watch of each file's folder, and the file's name in the folder. A folder stays
        watched when none of its files is watched any more, because the next session's file is
        usually in the same folder."""
        self._files: dict[tuple[int, str], Path] = {}

    def has(self, file: Path) -> bool:
        """Return whether the file is watched."""
        return file in self._keys

    def add(self, file: Path) -> None:
        """Watch a file, which may not exist yet. Idempotent.

        Blocks as long as the file system does. Raises `OSError` if the folder does not exist or
        cannot be watched, or if the file is a symbolic link, whose target may be elsewhere.
        """
        if file.is_symlink():
            raise OSError(f"{file} is a symbolic link")
        key = self._watch.add(file.parent, _MASK), file.name
        self._keys[file], self._files[key] = key, file

    def keep(self, files: Collection[Path]) -> None:
        """Stop watching every file that is not in `files`. Does not block."""
        for file in self._keys.keys() - set(files):
            self._files.pop(self._keys.pop(file), None)

    def follow(self, call: Callable[[set[Path] | None], None]) -> Callable[[], None]:
        """Run `call` on the running event loop with the files that may have changed; return a
        function that ends the watch.

        `call` gets None if the kernel dropped events; any file may then have changed.
        """
        changed: set[Path] = set()
        lost = False

        def is_of_interest(event: Event) -> bool:
            nonlocal lost
            if event.mask & FOLDER_GONE:
                files = {file for file, (watch, _) in self._keys.items() if watch == event.watch}
                for file in files:
                    self._files.pop(self._keys.pop(file), None)
            else:
                known = self._files.get((event.watch, event.name))
                files = set() if known is None else {known}
            lost = lost or event.lost
            changed.update(files)
            return event.lost or bool(files)

        def report() -> None:
            nonlocal lost
            reported = None if lost else set(changed)
            changed.clear()
            lost = False
            call(reported)

        return self._watch.follow(is_of_interest, report)

    def close(self) -> None:
        """End a watch for which `follow` was not called."""
        self._watch.close()


def watch_written() -> WrittenFiles | None:
    """Return a new, empty `WrittenFiles`; None if inotify cannot be used."""
    try:
        return WrittenFiles()
    except OSError:
        return None
