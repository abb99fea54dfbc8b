"""What a removal notes before it moves a worktree's folder, so that the next one knows its own.

The note lies in git's folder for the worktree and goes with it. It names the folder beside the
worktree and which one it is on the disk: another folder with that name is never touched.
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

from cockpit.adapters.files.foreign_files import read_file
from cockpit.adapters.files.private_file import write_private

NAME = "cockpit-removal.json"
LARGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class RemovalRecord:
    """One removal that was begun."""

    aside: str
    """The name of the folder that the worktree was moved to, beside where it was."""
    device: int
    inode: int
    reference: str = ""
    """What holds all of it."""
    left_out: tuple[str, ...] = ()
    deleting: bool = False
    """It was compared, and is being deleted; before that it is put back."""

    def folder(self, directory: Path) -> Path:
        return directory.with_name(self.aside)

    def is_at(self, path: Path) -> bool:
        """Whether the folder there is the one that was moved."""
        try:
            found = path.lstat()
        except OSError:
            return False
        same = (found.st_dev, found.st_ino) == (self.device, self.inode)
        return same and stat.S_ISDIR(found.st_mode)


def new_record(directory: Path, reference: str, left_out: tuple[str, ...]) -> RemovalRecord:
    """For a folder that is about to be moved, with a name beside it that nothing has."""
    found = directory.lstat()
    while os.path.lexists(
        aside := directory.with_name(f".{directory.name}.removing-{secrets.token_hex(6)}")
    ):
        pass
    return RemovalRecord(aside.name, found.st_dev, found.st_ino, reference, left_out)


def write_record(folder: Path, record: RemovalRecord) -> None:
    """Forced to the disk: the folder is moved only after that. Raises `OSError`."""
    write_private(folder / NAME, json.dumps(asdict(record)).encode())
    for path in (folder / NAME, folder):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_record(folder: Path, directory: Path) -> RemovalRecord | None:
    """The note for the worktree that was at `directory`; None where there is none of ours."""
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
