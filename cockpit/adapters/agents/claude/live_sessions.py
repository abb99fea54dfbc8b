"""Read the status files of Claude Code's live processes: `<config>/sessions/<pid>.json`.

These files report an interrupt, and a dialog for which no hook runs. cockpit never writes these
files. A file is used only if the process that wrote the file is alive, because the pid may belong
to another process now.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cockpit.adapters.files.foreign_files import read_file
from cockpit.adapters.process.process_table import entry, started_at
from cockpit.config.kernel import USES_LINUX
from cockpit.core.foreign_json import loads
from cockpit.core.ids import SESSION_PATTERN, SessionId
from cockpit.core.timestamps import unix_milliseconds
from cockpit.ports.runtimes import Activity, Presence

_ACTIVITIES = {
    "busy": Activity.BUSY,
    "shell": Activity.IDLE,
    "idle": Activity.IDLE,
    "waiting": Activity.WAITING,
}

_SHELLS = {"shell": True, "idle": False}
"""Whether a background shell is running, by status. In CLI 2.1.330, `shell` means idle with a
background shell; a session with running subagents is `busy`."""

_NOTE_BYTES = 65_536

_CLOCK_SLACK = 1.0
"""Tolerance in seconds: some systems report the start of a process in whole seconds."""


def presence(config: Path, pid: int) -> Presence | None:
    """Return the status of process `pid`, or of a descendant if `pid` is a wrapper script.

    None if there is no status file, or if another process wrote the file.
    """
    if (own := own_presence(config, pid)) is not None:
        return own
    note = next((n for n in notes(config) if pid in _ancestors(int(n["pid"]))), None)
    return _presence(note) if note else None


def own_presence(config: Path, pid: int) -> Presence | None:
    """Return the status of process `pid`; descendants are not searched.

    None if there is no status file, or if another process wrote the file.
    """
    note = _live_note(status_file(config, pid))
    return _presence(note) if note else None


def status_file(config: Path, pid: int) -> Path:
    """Return the path of a process's status file."""
    return config / "sessions" / f"{pid}.json"


def live_sessions(config: Path) -> dict[SessionId, int]:
    """Return every session that a live process has open, with the pid of that process."""
    return {
        ident: int(note["pid"])
        for note in notes(config)
        if (ident := _session_id(note)) is not None
    }


def activity(note: Mapping[str, Any]) -> Activity:
    """Return the process's activity from its status file."""
    return _ACTIVITIES.get(str(note.get("status")), Activity.UNKNOWN)


def _presence(note: Mapping[str, Any]) -> Presence:
    waiting, updated = note.get("waitingFor"), note.get("updatedAt")
    return Presence(
        activity=activity(note),
        waiting_for=waiting if isinstance(waiting, str) else None,
        session_id=_session_id(note),
        shells=_SHELLS.get(str(note.get("status"))),
        updated=unix_milliseconds(updated),
    )


def _session_id(note: Mapping[str, Any]) -> SessionId | None:
    """Return the session id in a status file; None if there is none or the id is invalid."""
    ident = note.get("sessionId")
    if not isinstance(ident, str) or not SESSION_PATTERN.fullmatch(ident):
        return None
    return SessionId(ident)


def notes(config: Path) -> Iterator[dict[str, Any]]:
    """Yield the contents of the status files of all live processes; only `pid` is validated."""
    try:
        paths = sorted((config / "sessions").glob("[0-9]*.json"))
    except OSError:
        return
    for path in paths:
        if note := _live_note(path):
            yield note


def _live_note(path: Path) -> dict[str, Any] | None:
    try:
        note = loads(read_file(path, _NOTE_BYTES, follow_links=False))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(note, dict) or note.get("pid") != _number(path.stem):
        return None
    return note if _is_writer(note["pid"], note) else None


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _is_writer(pid: int, note: Mapping[str, Any]) -> bool:
    """Return whether the live process with this pid wrote the status file.

    On Linux, the file's `procStart` must equal the start time in `/proc`. On other systems,
    `procStart` has another form, so the process must have started before the file's `startedAt`.
    """
    process = entry(pid)
    if process is None or process.ended:
        return False
    if USES_LINUX:
        return str(note.get("procStart")) == str(process.started)
    began, noted = started_at(pid), note.get("startedAt")
    return began is not None and isinstance(noted, int) and began <= noted / 1000 + _CLOCK_SLACK


def _ancestors(pid: int) -> Iterator[int]:
    for _ in range(16):
        seen = entry(pid)
        if seen is None or seen.parent <= 1:
            return
        pid = seen.parent
        yield pid
