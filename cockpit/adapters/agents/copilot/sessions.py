"""Find the transcript of a Copilot session, and check whether the session can be resumed.

A session is a folder `session-state/ID`; its transcript is `events.jsonl` in this folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from cockpit.adapters.files.foreign_files import is_file, opened
from cockpit.core.errors import BadUsage
from cockpit.core.foreign_json import loads
from cockpit.core.ids import SessionId

TRANSCRIPT = "events.jsonl"
SESSIONS = "session-state"
_SESSION_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_FIRST_LINE = 1_048_576


def config_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of Copilot's configuration and sessions."""
    configured = environment.get("COPILOT_HOME")
    if configured:
        return Path(configured)
    return Path(environment.get("HOME") or Path.home()) / ".copilot"


def is_session_id(text: str) -> bool:
    """Return whether the text is a UUID, as session ids are; hook reports may be forged."""
    return _SESSION_ID.fullmatch(text) is not None


def session_folder(session_id: str, environment: Mapping[str, str]) -> Path | None:
    """Return the folder of a session; None for a text that is not a session id."""
    if not is_session_id(session_id):
        return None
    return config_folder(environment) / SESSIONS / session_id


def reported_transcript(path: str, session_id: str) -> Path | None:
    """Return a report's transcript path, if the path's folder is named after the session.

    None for any other file, so that a forged report cannot point to another session's transcript.
    """
    record = Path(path)
    named = record.name == TRANSCRIPT and record.parent.name == session_id
    ours = named and is_session_id(session_id) and record.parent.parent.name == SESSIONS
    return record if ours and record.is_absolute() and ".." not in record.parts else None


def check_resumable(session_id: SessionId, directory: Path, environment: Mapping[str, str]) -> Path:
    """Return the transcript of a session that can be resumed in `directory`.

    Raises `BadUsage` if there is no such session, or if it belongs to another directory.
    """
    folder = session_folder(session_id, environment)
    if folder is None:
        raise BadUsage(f"{session_id!a} is not a session id", hint="Ids are UUIDs.")
    path = folder / TRANSCRIPT
    if not is_file(path):
        raise BadUsage(
            f"There is no session {session_id}",
            f"It has no transcript below {folder.parent}.",
            "To list an agent's sessions: cockpit history",
        )
    was = session_directory(path)
    if was is None or os.path.realpath(was) != os.path.realpath(directory):
        raise BadUsage(
            f"Session {session_id} belongs to another directory",
            f"Its directory is {was!a}." if was else "The transcript names no directory.",
            "Start the agent there.",
        )
    return path


def session_directory(path: Path) -> str | None:
    """Return the directory that the transcript names; None if it names none."""
    with opened(path) as file:
        line = file.readline(_FIRST_LINE)
    try:
        cwd = loads(line)["data"]["context"]["cwd"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return cwd if isinstance(cwd, str) else None
