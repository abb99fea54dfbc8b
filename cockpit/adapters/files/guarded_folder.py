"""Open folders without following symlinks, and write files atomically, durably and privately.

An agent runs as the same user, and may replace any folder or file. So a folder is opened step by
step from the root, refusing symlinks, and then used through its descriptor.
"""

from __future__ import annotations

import errno
import os
import secrets
import shlex
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cockpit.adapters.files.file_system import sync_descriptor
from cockpit.config.kernel import USES_LINUX
from cockpit.core.errors import Failed
from cockpit.core.safetext import safe_line

STALE_SECONDS = 3600
"""Seconds after which a temporary file counts as abandoned. A newer file may belong to
another cockpit process."""

_SEARCH = os.O_PATH if USES_LINUX else getattr(os, "O_SEARCH", os.O_RDONLY)
_STEP = _SEARCH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS, errno.EACCES}


@contextmanager
def opened(
    folder: Path, *, make_below: Path | None = None, in_state: bool = False
) -> Iterator[int]:
    """Open a folder whose absolute path contains no symbolic link.

    With `make_below`, a parent of the folder, missing folders below this parent are created with
    mode 0700. Other users lose write permission for the folder. Raises `FileNotFoundError` for a
    missing folder, and `Failed` if a part of the path is a symlink or a file, or if the folder
    belongs to another user. With `in_state`, the folder is in cockpit's state folder, so no error
    suggests changing `handoff.directory`.
    """
    made_from = len(make_below.parts) if make_below is not None else len(folder.parts)
    at = os.open("/", _STEP)
    try:
        for depth, part in enumerate(folder.parts[1:], 1):
            inner = _step(at, part, folder, make=depth >= made_from, in_state=in_state)
            os.close(at)
            at = inner
        real = os.open(".", _FOLDER, dir_fd=at)
    finally:
        os.close(at)
    try:
        _restrict_to_owner(real, folder, in_state=in_state)
        yield real
    finally:
        os.close(real)


@contextmanager
def entered(folder: Path) -> Iterator[int]:
    """Open a folder whose absolute path contains no symbolic link, without changing anything.

    The descriptor can only be used to reach the folder's contents. Raises as `opened` does, but
    accepts another user's folder.
    """
    at = os.open("/", _STEP)
    try:
        for part in folder.parts[1:]:
            inner = _enter(at, part, folder, in_state=False)
            os.close(at)
            at = inner
        yield at
    finally:
        os.close(at)


def write_durably(folder: int, name: str, data: bytes, *, replace: bool) -> None:
    """Write a file of mode 0600, so that after a power failure the file is complete or as before.

    The bytes are synced before the file gets its name, and the folder afterwards. Without
    `replace`, an existing file raises `FileExistsError`. After an `OSError`, write the file again:
    a second sync is not reliable.
    """
    temporary = f".{name}.{secrets.token_hex(6)}.tmp"
    descriptor = os.open(temporary, _NEW_FILE, 0o600, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(data)
            file.flush()
            sync_descriptor(file.fileno())
        _move_into_place(folder, temporary, name, replace=replace)
        sync_descriptor(folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise


def sync(folder: Path) -> None:
    """Sync the names in a folder to disk. Raises `OSError`, including for a symlink."""
    descriptor = os.open(folder, _FOLDER | os.O_NOFOLLOW)
    try:
        sync_descriptor(descriptor)
    finally:
        os.close(descriptor)


def sweep(folder: int) -> None:
    """Remove temporary files that a crash left, if they are older than `STALE_SECONDS`."""
    for name in os.listdir(folder):
        if not (name.startswith(".") and name.endswith(".tmp")):
            continue
        with suppress(OSError):
            age = time.time() - os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime
            if age > STALE_SECONDS:
                os.unlink(name, dir_fd=folder)


def _move_into_place(folder: int, temporary: str, name: str, *, replace: bool) -> None:
    """Move a file into place.

    Without `replace`, uses a hard link if the file system supports it, because a rename would
    replace an existing file.
    """
    if replace:
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        return
    try:
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        with suppress(FileNotFoundError):
            os.stat(name, dir_fd=folder, follow_symlinks=False)
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name) from error
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    else:
        os.unlink(temporary, dir_fd=folder)


def _step(at: int, part: str, folder: Path, *, make: bool, in_state: bool) -> int:
    try:
        return _enter(at, part, folder, in_state=in_state)
    except FileNotFoundError:
        if not make:
            raise
    with suppress(FileExistsError):
        os.mkdir(part, 0o700, dir_fd=at)
    made = _enter(at, part, folder, in_state=in_state)
    # The umask may have cleared bits of the mode.
    if USES_LINUX:
        Path(f"/proc/self/fd/{made}").chmod(0o700)  # `fchmod` refuses a descriptor of O_PATH
    else:
        os.fchmod(made, 0o700)
    parent = os.open(".", _FOLDER, dir_fd=at)
    try:
        sync_descriptor(parent)
    finally:
        os.close(parent)
    return made


def _enter(at: int, part: str, folder: Path, *, in_state: bool) -> int:
    try:
        return os.open(part, _STEP, dir_fd=at)
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ELOOP):  # macOS reports a link as a loop
            raise _not_a_folder(part, folder, in_state=in_state) from error
        raise


def _restrict_to_owner(descriptor: int, folder: Path, *, in_state: bool) -> None:
    """Remove write permission of other users. Raises `Failed` for another user's folder."""
    entry = os.fstat(descriptor)
    if entry.st_uid != os.geteuid() and os.geteuid() != 0:
        shown = safe_line(str(folder), 4096)
        raise Failed(
            f"{shown} belongs to another user",
            f"The folder's owner is user {entry.st_uid}; cockpit runs as user {os.geteuid()}.",
            f"Give the folder to your user: sudo chown -R {os.geteuid()} {shlex.quote(shown)}"
            if in_state
            else "Set another folder in `handoff.directory`.",
        )
    if entry.st_mode & 0o022:
        os.fchmod(descriptor, stat.S_IMODE(entry.st_mode) & ~0o022)


def _not_a_folder(part: str, folder: Path, *, in_state: bool) -> Failed:
    purpose = "" if in_state else " for handoff documents"
    return Failed(
        f"Cannot use {safe_line(str(folder))}{purpose}",
        f"{safe_line(part)} in this path is a link or a file, not a folder.",
        "Move the link or file away; cockpit creates the folder again."
        if in_state
        else "Remove the link or file, or set another folder in `handoff.directory`.",
    )
