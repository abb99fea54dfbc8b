"""Find the transcript of a Codex session, and check whether the session can be resumed.

Codex chooses the session's id; the transcript's file name ends with the id.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cockpit.adapters.agents import resumable_sessions
from cockpit.adapters.agents.resumable_sessions import is_session_id
from cockpit.adapters.files.foreign_files import is_file, opened
from cockpit.core.foreign_json import loads
from cockpit.core.ids import SessionId

_NAME = re.compile(r"rollout-[0-9T-]{10,40}-([0-9a-f-]{36})\.jsonl")
_FIRST_LINE = 1_048_576


def config_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of Codex's configuration and transcripts."""
    configured = environment.get("CODEX_HOME")
    if configured:
        return Path(configured)
    return Path(environment.get("HOME") or Path.home()) / ".codex"


def record_path(session_id: SessionId, environment: Mapping[str, str]) -> Path | None:
    """Return the path of a session's transcript; None if there is no transcript."""
    if not is_session_id(session_id):
        return None
    paths = config_folder(environment).glob(f"sessions/*/*/*/rollout-*-{session_id}.jsonl")
    return max((path for path in paths if is_file(path)), default=None)


def reported_transcript(path: str | None, session_id: str | None) -> Path | None:
    """Return the path of a reported transcript, if its file name ends with the session's id.

    None for any other file, so that a forged report cannot point to another session's transcript.
    """
    if path is None or session_id is None or not is_session_id(session_id):
        return None
    record = Path(path)
    named = _NAME.fullmatch(record.name)
    ours = record.is_absolute() and named is not None and named[1] == session_id
    return record if ours and ".." not in record.parts else None


def check_resumable(session_id: SessionId, directory: Path, environment: Mapping[str, str]) -> Path:
    """Return the path of the transcript of a session that can be resumed in `directory`.

    Raises `BadUsage` if there is no such session, or if it belongs to another directory. If another
    process has the session open, Codex itself refuses, on its screen.
    """
    return resumable_sessions.check_resumable(
        session_id,
        directory,
        find=lambda: record_path(session_id, environment),
        transcripts=config_folder(environment) / "sessions",
        directory_of=_directory,
    )


def first_record(path: Path) -> Mapping[str, Any] | None:
    """Return the data of a session, from the first line of the transcript.

    None if the file is not a transcript. Raises `OSError`.
    """
    with opened(path) as file:
        line = file.readline(_FIRST_LINE)
    try:
        payload = loads(line)["payload"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return payload if isinstance(payload, dict) else None


def _directory(path: Path) -> str | None:
    cwd = (first_record(path) or {}).get("cwd")
    return cwd if isinstance(cwd, str) else None
