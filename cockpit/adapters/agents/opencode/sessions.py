"""Find an opencode session, and check whether the session can be resumed.

opencode stores all sessions in one SQLite database, which cockpit only reads. cockpit's plugin
writes the transcripts, below cockpit's state folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from cockpit.adapters.agents.opencode.stored_session import session_directory
from cockpit.core.errors import BadUsage, NotNow
from cockpit.core.ids import SessionId

_SESSION_ID = re.compile(r"ses_[0-9A-Za-z]{10,40}")


def is_session_id(text: str) -> bool:
    """Return whether the text has the form of a session id; hook reports may be forged."""
    return _SESSION_ID.fullmatch(text) is not None


def record_path(records: Path, session_id: str) -> Path | None:
    """Return the path of a session's transcript; None for an invalid session id."""
    return records / f"{session_id}.jsonl" if is_session_id(session_id) else None


def reported_transcript(records: Path, path: str, session_id: str) -> Path | None:
    """Return the path of a reported transcript, if the plugin writes this file for the session.

    None for any other file, so that a forged report cannot point to another session's transcript.
    """
    ours = record_path(records, session_id)
    return ours if ours is not None and os.fspath(ours) == path else None


def database(environment: Mapping[str, str]) -> Path:
    """Return the path of opencode's database."""
    home = Path(environment.get("HOME") or Path.home())
    folder = Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share") / "opencode"
    return folder / (environment.get("OPENCODE_DB") or "opencode.db")


def check_resumable(session_id: SessionId, directory: Path, environment: Mapping[str, str]) -> None:
    """Raise unless a session can be resumed in `directory`.

    Raises `BadUsage` if there is no such session, or if it belongs to another directory, and
    `NotNow` if the database cannot be read.
    """
    if not is_session_id(session_id):
        raise BadUsage(f"{session_id!a} is not a session id", hint="Session ids begin with ses_.")
    path = database(environment)
    was = _directory(path, session_id)
    if was is None:
        raise BadUsage(
            f"There is no session {session_id}",
            f"{path} contains no session with this id.",
            "To list an agent's sessions: cockpit history",
        )
    if os.path.realpath(was) != os.path.realpath(directory):
        raise BadUsage(
            f"Session {session_id} belongs to another directory",
            f"The session's directory is {was!a}.",
            "Start the agent in the session's directory.",
        )


def _directory(path: Path, session_id: str) -> str | None:
    if not path.is_file():
        return None
    try:
        return session_directory(path, session_id)
    except OSError as error:
        raise NotNow("Cannot read opencode's database", f"{path}: {error}.", "Try again.") from None
