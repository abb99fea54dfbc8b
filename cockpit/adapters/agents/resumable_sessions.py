"""Check whether a session id is a UUID, and whether a session can be resumed.

Claude Code, Codex, Copilot and Gemini use UUIDs as session ids. How to find a session's transcript
and directory differs per CLI, so callers pass functions for both.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from cockpit.core.errors import BadUsage
from cockpit.core.ids import SessionId

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def is_session_id(text: str) -> bool:
    """Return whether the text is a UUID. Needed because hook reports may be forged."""
    return _UUID.fullmatch(text) is not None


def check_session_id(session_id: SessionId) -> None:
    """Raise `BadUsage` unless the id is a UUID."""
    if not is_session_id(session_id):
        raise BadUsage(f"{session_id!a} is not a session id", hint="Session ids are UUIDs.")


def no_such_session(session_id: SessionId, transcripts: Path) -> BadUsage:
    """Return the error for a session without a transcript below `transcripts`."""
    return BadUsage(
        f"There is no session {session_id}",
        f"No transcript below {transcripts} has this id.",
        "To list an agent's sessions: cockpit history",
    )


def check_resumable(
    session_id: SessionId,
    directory: Path,
    *,
    find: Callable[[], Path | None],
    transcripts: Path,
    directory_of: Callable[[Path], str | None],
    nameless: str = "The transcript contains no directory.",
) -> Path:
    """Return the path of the transcript of a session that can be resumed in `directory`.

    `find` returns the transcript, which is below the folder `transcripts`; None if there is none.
    `directory_of` returns the session's directory from the transcript. `nameless` is the reason in
    the error if `directory_of` returns None. Raises `BadUsage` if there is no such session, or if
    the session belongs to another directory.
    """
    check_session_id(session_id)
    path = find()
    if path is None:
        raise no_such_session(session_id, transcripts)
    was = directory_of(path)
    if was is None or os.path.realpath(was) != os.path.realpath(directory):
        raise BadUsage(
            f"Session {session_id} belongs to another directory",
            f"The session's directory is {was!a}." if was else nameless,
            "Start the agent in the session's directory.",
        )
    return path
