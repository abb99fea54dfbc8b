"""Record the moved folder before a worktree is removed, so that a later removal recognises it.

The record is in git's folder for the worktree and is deleted with it. It names the moved folder and
its identity on disk: another folder of that name is never touched.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from cockpit.adapters.files.file_system import sync_descriptor
from cockpit.adapters.files.foreign_files import read_file
from cockpit.adapters.files.private_file import write_private

NAME = "cockpit-removal.json"
LARGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class RemovalRecord:
    """One removal in progress."""

    aside: str
    """Name that the worktree's folder was moved to, in its parent folder."""
    device: int
    inode: int
    reference: str = ""
    """The reference that holds all of it."""
    left_out: tuple[str, ...] = ()
    deleting: bool = False
    """It was compared and is being deleted; before that, it is moved back."""

    def folder(self, directory: Path) -> Path:
        return directory.with_name(self.aside)

    def is_at(self, path: Path) -> bool:
        """Return whether the folder there is the one that was moved."""
        try:
            found = path.lstat()
        except OSError:
            return False
        same = (found.st_dev, found.st_ino) == (self.device, self.inode)
        return same and stat.S_ISDIR(found.st_mode)


def new_record(directory: Path, reference: str, left_out: tuple[str, ...]) -> RemovalRecord:
    """Return a record for a folder that is about to be moved, with an unused name in its parent
    folder.
    """
    found = directory.lstat()
    while os.path.lexists(
        aside := directory.with_name(f".{directory.name}.removing-{secrets.token_hex(6)}")
    ):
        pass
    return RemovalRecord(aside.name, found.st_dev, found.st_ino, reference, left_out)


def write_record(folder: Path, record: RemovalRecord) -> None:
    """Write the record, synced; the folder is moved only after that. Raises `OSError`."""
    write_private(folder / NAME, json.dumps(asdict(record)).encode())
    for path in (folder / NAME, folder):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            sync_descriptor(descriptor)
        finally:
            os.close(descriptor)


def read_record(folder: Path, directory: Path) -> RemovalRecord | None:
    """Return the record for the worktree that was at `directory`; None without one of ours."""
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
