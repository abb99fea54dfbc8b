"""Read sessions from opencode's database, and convert them to transcripts.

The transcripts have the format of cockpit's plugin. cockpit never writes to the database.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cockpit.adapters.agents.opencode.messages import at, head_line, message_lines
from cockpit.core.foreign_json import loads

PATIENCE = 2.0
"""Maximum seconds to wait while opencode writes to the database."""


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session in opencode's database."""

    id: str
    directory: str
    version: str
    updated: int
    """Unix time of the session's last change, in milliseconds."""
    is_main: bool
    """False for a subagent's session."""
    is_working: bool
    """Whether a turn is open; also True while a dialog is open."""


def session_directory(database: Path, ident: str) -> str | None:
    """Return the directory of a session; None if there is no such session. Raises `OSError`."""
    with _connection(database) as connection:
        rows = connection.execute("select directory from session where id = ?", (ident,))
        row = rows.fetchone()
    return str(row[0]) if row else None


def stored_session(database: Path, ident: str) -> StoredSession | None:
    """Return the session with id `ident`; None if there is none. Raises `OSError`."""
    with _connection(database) as connection:
        row = connection.execute(
            "select directory, version, time_updated, parent_id from session where id = ?", (ident,)
        ).fetchone()
        last = connection.execute(
            "select data from message where session_id = ? order by time_created desc, id desc",
            (ident,),
        ).fetchone()
    if row is None:
        return None
    directory, version, updated, parent = row
    message = _object(last[0]) if last else {}
    is_over = at(message, "time", "completed") is not None or "error" in message
    return StoredSession(
        id=ident,
        directory=str(directory),
        version=str(version),
        updated=updated if isinstance(updated, int) else 0,
        is_main=not parent,
        is_working=bool(message) and not is_over,
    )


def transcript_lines(database: Path, session: StoredSession) -> Iterator[str]:
    """Yield the session's transcript, line by line. Raises `OSError`."""
    yield head_line(session.id, session.directory)
    with _connection(database) as connection:
        messages = connection.execute(
            "select id, data from message where session_id = ? order by time_created, id",
            (session.id,),
        )
        for ident, data in messages.fetchall():
            message = _object(data)
            parts = connection.execute(
                "select id, data from part where message_id = ? order by id", (ident,)
            )
            objects = [(str(part), _object(text)) for part, text in parts]
            for line in message_lines(str(ident), message, objects):
                yield json.dumps(line)


@contextmanager
def _connection(database: Path) -> Iterator[sqlite3.Connection]:
    address = f"{database.absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=PATIENCE)) as connection:
            yield connection
    except sqlite3.Error as error:
        raise OSError(str(error)) from error


def _object(text: object) -> Mapping[str, Any]:
    try:
        value = loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
