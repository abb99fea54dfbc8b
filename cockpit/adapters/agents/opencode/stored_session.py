"""Read sessions from opencode's database, also as the transcript that cockpit's plugin would write.

The database is only read.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cockpit.adapters.agents.opencode.record import RECORD
from cockpit.core.foreign_json import loads

PATIENCE = 2.0
"""Seconds to wait while opencode writes to the database."""
OUTPUT_KEPT, TAIL_KEPT, TEXT_KEPT = 2_000, 1_000, 20_000
"""Characters that are kept of a tool's output, of the end of a longer one, and of a text."""
_TOOLS = {
    "bash": "Bash", "edit": "Edit", "glob": "Glob", "grep": "Grep", "question": "AskUserQuestion",
    "read": "Read", "task": "Task", "todowrite": "TodoWrite", "webfetch": "WebFetch",
    "write": "Write",
}  # fmt: skip
_FIELDS = {"filePath": "file_path", "newString": "new_string", "oldString": "old_string"}


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session's row."""

    id: str
    directory: str
    version: str
    updated: int
    """When the session was changed, in milliseconds."""
    is_main: bool
    """Whether it is not a subagent's."""
    is_working: bool
    """Whether a turn is open. opencode also counts as working while a dialog is open."""


def session_directory(database: Path, ident: str) -> str | None:
    """Return the directory of a session; None if there is no such session. Raises `OSError`."""
    with _connection(database) as connection:
        rows = connection.execute("select directory from session where id = ?", (ident,))
        row = rows.fetchone()
    return str(row[0]) if row else None


def stored_session(database: Path, ident: str) -> StoredSession | None:
    """Return a session; None if there is none. Raises `OSError`."""
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
    is_over = _at(message, "time", "completed") is not None or "error" in message
    return StoredSession(
        id=ident,
        directory=str(directory),
        version=str(version),
        updated=updated if isinstance(updated, int) else 0,
        is_main=not parent,
        is_working=bool(message) and not is_over,
    )


def transcript_lines(database: Path, session: StoredSession) -> Iterator[str]:
    """Yield the lines of the session's transcript. Raises `OSError`."""
    head = {"record": RECORD, "version": 1, "session": session.id, "directory": session.directory}
    yield json.dumps(head)
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
            for line in _message_lines(str(ident), message, objects):
                yield json.dumps(line)


@contextmanager
def _connection(database: Path) -> Iterator[sqlite3.Connection]:
    address = f"{database.absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=PATIENCE)) as connection:
            yield connection
    except sqlite3.Error as error:
        raise OSError(str(error)) from error


def _message_lines(
    ident: str, message: Mapping[str, Any], parts: list[tuple[str, Mapping[str, Any]]]
) -> Iterator[dict[str, Any]]:
    is_user = message.get("role") == "user"
    created = _at(message, "time", "created")
    for part_id, part in parts:
        kind = part.get("type")
        if kind == "text" and is_user:
            yield {
                "type": "prompt", "at": created, "text": str(part.get("text") or ""),
                "meta": part.get("synthetic") is True,
            }  # fmt: skip
        elif kind == "text":
            text = str(part.get("text") or "")[:TEXT_KEPT]
            yield {"type": "said", "at": _at(part, "time", "end"), "id": ident, "text": text}
        elif kind == "tool":
            yield from _tool_line(str(part.get("callID") or part_id), part)
        elif kind == "compaction":
            trigger = "auto" if part.get("auto") is not False else "manual"
            yield {"type": "compacted", "at": created, "trigger": trigger}
    tokens = message.get("tokens")
    if is_user or not isinstance(tokens, dict):
        return
    counts = {
        "input": tokens.get("input"), "output": tokens.get("output"),
        "reasoning": tokens.get("reasoning"), "cache_read": _at(tokens, "cache", "read"),
        "cache_write": _at(tokens, "cache", "write"),
    }  # fmt: skip
    if any(isinstance(count, int) and count > 0 for count in counts.values()):
        yield {
            "type": "reply", "at": _at(message, "time", "completed"), "id": ident,
            "model": f"{message.get('providerID')}/{message.get('modelID')}", "tokens": counts,
            "cost": message.get("cost"), "finish": message.get("finish"),
            "side": message.get("summary") is True,
        }  # fmt: skip


def _tool_line(ident: str, part: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    state = part.get("state")
    if not isinstance(state, dict) or state.get("status") not in ("completed", "error"):
        return
    given, name = state.get("input"), str(part.get("tool"))
    code = _at(state, "metadata", "exit")
    failed = state["status"] == "error" or code not in (None, 0)
    output = str((failed and state.get("error")) or state.get("output") or "")
    fields = given if isinstance(given, dict) else {}
    yield {
        "type": "tool", "at": _at(state, "time", "end"), "id": ident,
        "name": _TOOLS.get(name, name),
        "input": {_FIELDS.get(key, key): value for key, value in fields.items()},
        "failed": failed, "output": output[:OUTPUT_KEPT],
        "tail": output[max(OUTPUT_KEPT, len(output) - TAIL_KEPT) :],
        "exit": code if isinstance(code, int) else None,
    }  # fmt: skip


def _object(text: object) -> Mapping[str, Any]:
    try:
        value = loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _at(value: Mapping[str, Any], *keys: str) -> Any:
    found: Any = value
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found
