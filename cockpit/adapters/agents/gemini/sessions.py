"""Find the transcript of a Gemini session, and check whether the session can be resumed.

cockpit chooses the session's id. Gemini chooses the transcript's name, in the project's folder: the
minute in which the transcript was begun, and the first eight characters of the id. The transcript's
first line contains the whole id.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from cockpit.adapters.agents import resumable_sessions
from cockpit.adapters.agents.gemini.second_transcripts import first_transcript
from cockpit.adapters.agents.gemini.settings import config_folder
from cockpit.adapters.agents.resumable_sessions import is_session_id
from cockpit.adapters.files.foreign_files import is_file, opened, read_text
from cockpit.core.foreign_json import loads
from cockpit.core.ids import SessionId

_NAME = re.compile(r"session-[0-9T-]{10,40}-([0-9a-f]{8})\.jsonl")
_FIRST_LINE = 65_536
PROJECT_ROOT = ".project_root"
"""Name of a file in a project's folder in Gemini's folder. The file contains the path of the
project's directory."""


def record_path(session_id: SessionId, environment: Mapping[str, str]) -> Path | None:
    """Return the path of a session's transcript; None if there is no transcript yet."""
    if not is_session_id(session_id):
        return None
    pattern = f"tmp/*/chats/session-*-{session_id[:8]}.jsonl"
    paths = config_folder(environment).glob(pattern)
    return first_transcript(path for path in paths if _session_of(path) == session_id)


def reported_transcript(path: str | None, session_id: str | None) -> Path | None:
    """Return the path of a reported transcript, if its file name fits the session's id.

    The name contains the first eight characters of the id. None for any other file, so that a
    forged report cannot point to another session's transcript.
    """
    if path is None or session_id is None or not is_session_id(session_id):
        return None
    record = Path(path)
    named = _NAME.fullmatch(record.name)
    ours = record.is_absolute() and named is not None and named[1] == session_id[:8]
    return record if ours and ".." not in record.parts else None


def check_resumable(session_id: SessionId, directory: Path, environment: Mapping[str, str]) -> Path:
    """Return the path of the transcript of a session that can be resumed in `directory`.

    Raises `BadUsage` if there is no such session, or if it belongs to another directory.
    """
    return resumable_sessions.check_resumable(
        session_id,
        directory,
        find=lambda: record_path(session_id, environment),
        transcripts=config_folder(environment) / "tmp",
        directory_of=_directory,
        nameless="Gemini's project folder does not record its directory.",
    )


def _session_of(path: Path) -> str | None:
    if not is_file(path):
        return None
    try:
        with opened(path) as file:
            named = loads(file.readline(_FIRST_LINE))["sessionId"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    return named if isinstance(named, str) else None


def _directory(path: Path) -> str | None:
    try:
        return read_text(path.parents[1] / PROJECT_ROOT, 4096).strip() or None
    except OSError:
        return None
