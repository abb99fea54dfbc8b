"""Record where a worktree's folder is moved during its removal.

With the record, a later removal finishes or undoes an interrupted removal. The record is in the
worktree's `.git/worktrees/NAME` and is deleted together with it. The record contains the moved
folder's name and identity on disk, so that another folder with this name is never changed.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from cockpit.adapters.files.file_system import sync_descriptor
from cockpit.adapters.files.foreign_files import read_file
from cockpit.adapters.files.private_file import write_private
from cockpit.core.deferred_dataclass import dataclass

NAME = "cockpit-removal.json"
LARGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class RemovalRecord:
    """The record of a worktree's removal that is in progress."""

    aside: str
    """The new name of the worktree's folder, in the same parent folder."""
    device: int
    inode: int
    reference: str = ""
    """The git reference to the saved worktree."""
    left_out: tuple[str, ...] = ()
    deleting: bool = False
    """Whether the folder equals the saved worktree, and is being deleted. If not, the next removal
    moves the folder back."""

    def folder(self, directory: Path) -> Path:
        return directory.with_name(self.aside)

    def is_at(self, path: Path) -> bool:
        """Return whether the folder at `path` is the moved folder."""
        try:
            entry = path.lstat()
        except OSError:
            return False
        same = (entry.st_dev, entry.st_ino) == (self.device, self.inode)
        return same and stat.S_ISDIR(entry.st_mode)


def new_record(directory: Path, reference: str, left_out: tuple[str, ...]) -> RemovalRecord:
    """Return a record for a folder that will be moved, with an unused name in its parent folder."""
    entry = directory.lstat()
    while os.path.lexists(
        aside := directory.with_name(f".{directory.name}.removing-{secrets.token_hex(6)}")
    ):
        pass
    return RemovalRecord(aside.name, entry.st_dev, entry.st_ino, reference, left_out)


def write_record(folder: Path, record: RemovalRecord) -> None:
    """Write the record and sync it, before the folder is moved. Raises `OSError`."""
    write_private(folder / NAME, json.dumps(asdict(record)).encode())
    for path in (folder / NAME, folder):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            sync_descriptor(descriptor)
        finally:
            os.close(descriptor)


def read_record(folder: Path, directory: Path) -> RemovalRecord | None:
    """Return the record for the worktree that was at `directory`; None if there is no
    valid record."""
    try:
        held = json.loads(read_file(folder / NAME, LARGEST, follow_links=False))
        record = RemovalRecord(
            str(held["aside"]),
            int(held["device"]),
            int(held["inode"]),
            str(held["reference"]),
            tuple(map(str, held["left_out"])),
            deleting=held["deleting"] is True,
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    own = rf"\.{re.escape(directory.name)}\.removing-[0-9a-f]{{12}}"
    return record if re.fullmatch(own, record.aside) else None


def forget_record(folder: Path) -> None:
    with suppress(OSError):
        (folder / NAME).unlink()
