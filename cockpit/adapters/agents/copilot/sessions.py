"""Find the transcript of a Copilot session, and check whether the session can be resumed.

A session is a folder `session-state/ID`; its transcript is `events.jsonl` in this folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cockpit.adapters.agents import resumable_sessions
from cockpit.adapters.agents.resumable_sessions import is_session_id
from cockpit.adapters.files.foreign_files import is_file, opened
from cockpit.core.foreign_json import loads
from cockpit.core.ids import SessionId

TRANSCRIPT = "events.jsonl"
SESSIONS = "session-state"
_FIRST_LINE = 1_048_576


def config_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of Copilot's configuration and sessions."""
    configured = environment.get("COPILOT_HOME")
    if configured:
        return Path(configured)
    return Path(environment.get("HOME") or Path.home()) / ".copilot"


def session_folder(session_id: str, environment: Mapping[str, str]) -> Path | None:
    """Return the path of a session's folder; None for an invalid session id."""
    if not is_session_id(session_id):
        return None
    return config_folder(environment) / SESSIONS / session_id


def reported_transcript(path: str, session_id: str) -> Path | None:
    """Return the path of a reported transcript, if its folder is named after the session.

    None for any other file, so that a forged report cannot point to another session's transcript.
    """
    record = Path(path)
    named = record.name == TRANSCRIPT and record.parent.name == session_id
    ours = named and is_session_id(session_id) and record.parent.parent.name == SESSIONS
    return record if ours and record.is_absolute() and ".." not in record.parts else None


def check_resumable(session_id: SessionId, directory: Path, environment: Mapping[str, str]) -> Path:
    """Return the path of the transcript of a session that can be resumed in `directory`.

    Raises `BadUsage` if there is no such session, or if it belongs to another directory.
    """
    sessions = config_folder(environment) / SESSIONS
    path = sessions / session_id / TRANSCRIPT
    return resumable_sessions.check_resumable(
        session_id,
        directory,
        find=lambda: path if is_file(path) else None,
        transcripts=sessions,
        directory_of=session_directory,
    )


def session_directory(path: Path) -> str | None:
    """Return the directory in a transcript's first line; None if there is none. Raises
    `OSError`."""
    with opened(path) as file:
        line = file.readline(_FIRST_LINE)
    try:
        cwd = loads(line)["data"]["context"]["cwd"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return cwd if isinstance(cwd, str) else None
