"""Find the transcript of a Claude Code session, and check whether the session can be resumed.

The name of a transcript's folder is a lossy encoding of the session's directory, so the directory
is read from the `cwd` fields in the transcript. No other field is used.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from cockpit.adapters.agents.claude.live_sessions import live_sessions
from cockpit.adapters.agents.claude.settings import config_folder
from cockpit.adapters.agents.resumable_sessions import (
    check_session_id,
    is_session_id,
    no_such_session,
)
from cockpit.adapters.files.foreign_files import is_file, opened
from cockpit.config.same_paths import same_path
from cockpit.core.errors import BadUsage, NotNow
from cockpit.core.foreign_json import loads
from cockpit.core.ids import SessionId

FOLDER_NAME_LIMIT = 200
"""Maximum UTF-16 units of an encoded directory; the CLI truncates a longer name and appends a
hash."""
_LOOK_BYTES = 1_048_576


def encode_directory(directory: Path) -> str:
    """Encode a directory as the CLI does.

    Every UTF-16 unit outside a-z, A-Z and 0-9 becomes a dash.
    """
    return "".join(
        ("-" if unit < 0x10000 else "--") if not re.match(r"[a-zA-Z0-9]", chr(unit)) else chr(unit)
        for unit in map(ord, os.path.realpath(directory))
    )


def record_path(
    session_id: SessionId, directory: Path, environment: Mapping[str, str]
) -> Path | None:
    """Return the path of a session's transcript, even if the file does not exist yet.

    None if there is no file and the folder's name is too long to predict; see `FOLDER_NAME_LIMIT`.
    """
    projects = config_folder(environment) / "projects"
    name = environment.get("CLAUDE_CODE_PROJECT_DIR_NAME") or encode_directory(directory)
    file = f"{session_id}.jsonl"
    expected = projects / name / file
    if len(name) > FOLDER_NAME_LIMIT:
        start = _escaped(name[:FOLDER_NAME_LIMIT])
        return next(projects.glob(f"{start}-*/{file}"), None) or _find_moved(projects, file)
    return expected if expected.exists() else _find_moved(projects, file) or expected


def reported_transcript(path: str | None, session_id: str | None) -> Path | None:
    """Return the path of a reported transcript, if its file name is `SESSION_ID.jsonl`.

    None for any other file, so that a forged report cannot point to another session's transcript.
    """
    if path is None or session_id is None or not is_session_id(session_id):
        return None
    record = Path(path)
    ours = record.is_absolute() and record.name == f"{session_id}.jsonl"
    return record if ours and ".." not in record.parts else None


def check_resumable(session_id: SessionId, directory: Path, environment: Mapping[str, str]) -> Path:
    """Return the path of the transcript of a session that can be resumed in `directory`.

    Raises `BadUsage` if there is no such session or if it belongs to another directory, and
    `NotNow` while a live process has the session open.
    """
    path = find_transcript(session_id, directory, environment)
    pid = live_sessions(config_folder(environment)).get(session_id)
    if pid is not None:
        raise NotNow(
            f"Session {session_id} is already open",
            f"Process {pid} has the session open; two processes would write to one transcript.",
            "End this process first.",
        )
    _check_directory(path, directory)
    return path


def check_reopenable(
    session_id: SessionId, directory: Path, environment: Mapping[str, str]
) -> None:
    """Raise `BadUsage` as `check_resumable` does, but allow a session that is still open."""
    _check_directory(find_transcript(session_id, directory, environment), directory)


def find_transcript(session_id: SessionId, directory: Path, environment: Mapping[str, str]) -> Path:
    """Return the path of a session's transcript. Raises `BadUsage` if there is no such session."""
    check_session_id(session_id)
    path = record_path(session_id, directory, environment)
    if path is None or not is_file(path):
        raise no_such_session(session_id, config_folder(environment) / "projects")
    return path


def _check_directory(path: Path, directory: Path) -> None:
    seen = list(_directories(path))
    if not any(same_path(cwd, directory) for cwd in seen):
        raise BadUsage(
            f"Session {path.stem} belongs to another directory",
            f"The session's directory is {seen[0]!a}."
            if seen
            else "The transcript contains no directory.",
            "Start the agent in the session's directory.",
        )


def _directories(path: Path) -> Iterator[str]:
    """Yield the distinct directories in the first and the last `_LOOK_BYTES` of a transcript."""
    with opened(path) as file:
        start = file.read(_LOOK_BYTES)
        size = file.seek(0, os.SEEK_END)
        file.seek(max(len(start), size - _LOOK_BYTES))
        lines = [*start.split(b"\n"), *file.read(_LOOK_BYTES).split(b"\n")]
    seen: set[str] = set()
    for line in lines:
        cwd = _directory(line)
        if cwd is not None and cwd not in seen:
            seen.add(cwd)
            yield cwd


def _directory(line: bytes) -> str | None:
    if b'"cwd"' not in line:
        return None
    try:
        record = loads(line)
    except (ValueError, RecursionError):
        return None
    cwd = record.get("cwd") if isinstance(record, dict) else None
    return cwd if isinstance(cwd, str) else None


def _find_moved(projects: Path, file: str) -> Path | None:
    """Return the session's newest transcript in any folder; None if there is none."""
    transcripts = [path for path in projects.glob(f"*/{_escaped(file)}") if is_file(path)]
    return max(transcripts, key=lambda path: path.stat().st_mtime_ns, default=None)


def _escaped(name: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", name)
