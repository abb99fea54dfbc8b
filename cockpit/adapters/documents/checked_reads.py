"""Read handoff documents that a user or an agent named, or that other programs can write.

A file is checked before it is opened, because opening a device can have an effect, and again
through its descriptor. All functions do blocking disk I/O.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from cockpit.adapters.files import guarded_folder
from cockpit.adapters.files.foreign_files import NotPlain, open_file, read_file
from cockpit.config.same_paths import is_within
from cockpit.core.document import LARGEST, above_limit
from cockpit.core.errors import BadUsage, Failed
from cockpit.core.safetext import safe_line


def read_chosen(path: Path) -> str:
    """Return the text of a document that the user chose, or of a sealed document.

    Follows symbolic links, because the user may choose any path. Raises `BadUsage` for an
    unsuitable file.
    """
    try:
        data = read_file(path, LARGEST + 1, cut=True, any_owner=True)
    except NotPlain as odd:
        raise BadUsage(
            f"{safe_line(str(path))} {odd.strerror}",
            hint="Pass a regular file, such as a document listed by: cockpit history",
        ) from None
    except OSError as error:
        raise _unreadable(path, error) from None
    if len(data) > LARGEST:
        raise BadUsage(
            f"{safe_line(str(path))} is too long for a handoff document",
            f"The limit is {LARGEST // 1024} KiB.",
            hint="Shorten the document, or pass another file.",
        )
    return data.decode("utf-8", "replace")


def read_own(path: Path) -> str:
    """Return the text of a document of this user, at a path that other programs can change.

    Reads only a regular file of this user. A symlink and a file with several hard links are
    refused, because they could expose another file. Raises `BadUsage` with the reason.
    """
    return _own_text(path, path)


def read_within(folder: Path, path: Path) -> str:
    """Return the text of a document that an agent chose; see `read_own`.

    The resolved path must be in the agent's folder. Raises `BadUsage`.
    """
    place = Path(os.path.realpath(path.parent))
    if not is_within(place, Path(os.path.realpath(folder))):
        raise BadUsage(
            f"{safe_line(str(path))} is not in the agent's directory",
            "An agent can only hand over a document from its own directory.",
            f"Write the document below {safe_line(str(folder))}",
        )
    return read_sealed(place / path.name, shown=path)


def read_sealed(path: Path, shown: Path | None = None) -> str:
    """Return the text of a sealed document; see `read_own`.

    No part of the path may be a symlink. Raises `BadUsage`; errors contain `shown` as the path.
    """
    shown = shown or path
    try:
        with guarded_folder.entered(path.parent) as descriptor:
            return _own_text(Path(path.name), shown, descriptor)
    except Failed as linked:
        raise BadUsage(linked.title, linked.detail, hint="Use a path without links.") from None
    except OSError as error:
        raise _unreadable(shown, error) from None


def refusal_reason(entry: os.stat_result) -> str | None:
    """Return why cockpit does not read a file; None for a regular file of this user with one hard
    link and at most `LARGEST` bytes."""
    if stat.S_ISLNK(entry.st_mode):
        return "The path is a symbolic link, not a regular file."
    if not stat.S_ISREG(entry.st_mode):
        return "The path is not a regular file."
    if entry.st_uid != os.geteuid():
        return "The file belongs to another user."
    if entry.st_nlink != 1:
        return "The file has more than one hard link."
    if entry.st_size > LARGEST:
        return f"The file has {above_limit(entry.st_size, LARGEST)}"
    return None


def _own_text(path: Path, shown: Path, folder: int | None = None) -> str:
    """Read a regular file of this user with one hard link; `path` is relative to `folder` if given.

    Raises `BadUsage`.
    """
    try:
        reason = refusal_reason(os.stat(path, dir_fd=folder, follow_symlinks=False))
        if reason is None:
            with os.fdopen(open_file(path, dir_fd=folder, follow_links=False), "rb") as file:
                reason = refusal_reason(os.fstat(file.fileno()))
                data = file.read(LARGEST + 1)
    except NotPlain as odd:
        reason = f"The file {odd.strerror}."
    except OSError as error:
        raise _unreadable(shown, error) from None
    if reason is None and len(data) > LARGEST:
        reason = f"The limit is {LARGEST // 1024} KiB."
    if reason is not None:
        hint = f"Use a regular file that you own, such as a copy, of at most {LARGEST // 1024} KiB."
        raise BadUsage(f"Cannot use {safe_line(str(shown))} as a handoff document", reason, hint)
    return data.decode("utf-8", "replace")


def _unreadable(path: Path, error: OSError) -> BadUsage:
    return BadUsage(
        f"Cannot read {safe_line(str(path))}: {os.strerror(error.errno or 0)}",
        hint="To list the documents of all jobs: cockpit history",
    )
