"""Open the database's file: create it, check it, and bring it to the current version."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

from cockpit.adapters.store.migrations import MIGRATIONS
from cockpit.adapters.store.rows import text_of
from cockpit.core.errors import Failed

LOCK_SECONDS = 5.0
"""Maximum seconds to wait for another process that has locked the database."""
_LOCKS = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_TEMPORARY = {
    *(*_LOCKS, sqlite3.SQLITE_PROTOCOL),
    *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_NOLFS),
    *(sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH),
}
"""SQLite's codes for errors that the content of the file does not cause."""


def connect(path: Path) -> sqlite3.Connection:
    """Open or create the database.

    Raises `sqlite3.DatabaseError` if SQLite cannot use the file (see `is_unreadable`), `OSError` if
    the file cannot be opened, and `Failed` for a database of a newer version.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    os.fchmod(handle, 0o600)
    os.close(handle)
    database = sqlite3.connect(
        path, timeout=LOCK_SECONDS, isolation_level=None, check_same_thread=False
    )
    database.row_factory = sqlite3.Row
    database.text_factory = text_of
    try:
        database.execute("pragma journal_mode = wal")
        database.execute("pragma synchronous = full")
        database.execute("pragma fullfsync = on")  # macOS only, see `sync_descriptor`
        database.execute("pragma foreign_keys = on")
        if database.execute("pragma quick_check").fetchone()[0] != "ok":
            raise sqlite3.DatabaseError("the file is damaged")
        _migrate(database, path)
    except BaseException:
        database.close()
        raise
    return database


def is_unreadable(error: sqlite3.DatabaseError) -> bool:
    """Return whether the content of the file is the cause of an error of `connect`."""
    return _code(error) not in _TEMPORARY


def reason_and_step(path: Path, error: sqlite3.DatabaseError | OSError) -> tuple[str, str]:
    """Return why a database cannot be opened, and the user's next step."""
    if isinstance(error, OSError) and error.errno in (errno.ELOOP, errno.EISDIR):
        return f"{error.strerror}.", "Move this link or folder away, then try again."
    if isinstance(error, sqlite3.Error) and _code(error) in _LOCKS:
        step = (
            "Close the program that has the file open, then try again. To find the "
            f"program: fuser {path}"
        )
        return f"Another process has locked the file ({error}).", step
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"{reason}.", "Check the free disk space and the folder's permissions: cockpit doctor"


def _code(error: sqlite3.DatabaseError) -> int:
    """Return SQLite's code without its details; 0 if the error is not SQLite's."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _migrate(database: sqlite3.Connection, path: Path) -> None:
    taken = int(database.execute("pragma user_version").fetchone()[0])
    if taken > len(MIGRATIONS):
        raise Failed(
            f"{path} was written by a newer cockpit",
            f"The database has schema version {taken}; this version supports {len(MIGRATIONS)}.",
            "Run the newer version, or move the file away to start with an empty database.",
        )
    for number, migration in enumerate(MIGRATIONS[taken:], start=taken + 1):
        database.execute("begin immediate")
        try:
            migration(database)
            database.execute(f"pragma user_version = {number}")
        except BaseException:
            database.execute("rollback")
            raise
        database.execute("commit")


def put_aside(path: Path) -> Path | None:
    """Rename an unreadable file with its journal; return the new path.

    None if `path` is not a regular file.
    """
    if not path.is_file() or path.is_symlink():
        return None
    number = 1
    while (aside := path.with_name(f"{path.name}.unreadable-{number}")).exists():
        number += 1
    path.rename(aside)
    for ending in ("-wal", "-shm"):
        journal = path.with_name(path.name + ending)
        if journal.exists():
            journal.rename(aside.with_name(aside.name + ending))
    return aside
