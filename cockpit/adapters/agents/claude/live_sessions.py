"""What Claude Code notes of its own live processes: `<config>/sessions/<pid>.json`.

The one place that tells of an interrupt and of an open dialog without a hook. It is read, never
written, and only believed of the process that wrote it: a pid alone may be another process.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cockpit.adapters.files.foreign_files import read_file
from cockpit.core.ids import SessionId
from cockpit.ports.runtimes import Activity, Presence

_ACTIVITIES = {
    "busy": Activity.BUSY,
    "shell": Activity.IDLE,
    "idle": Activity.IDLE,
    "waiting": Activity.WAITING,
}

_SHELLS = {"shell": True, "idle": False}
"""`shell` is `idle` while a shell runs in the background; subagents make it `busy` (2.1.330)."""

_NOTE_BYTES = 65_536


def presence(config: Path, pid: int) -> Presence | None:
    """The note of the process `pid`, or of a process it started (a wrapper script's CLI).

    None when there is no note, or it is another process's.
    """
    note = _live_note(config / "sessions" / f"{pid}.json")
    if note is None:
        note = next((n for n in _notes(config) if pid in _ancestors(int(n["pid"]))), None)
    return _presence(note) if note else None


def live_sessions(config: Path) -> dict[SessionId, int]:
    """Every session that a live process has open, with that process's pid."""
    return {
        SessionId(note["sessionId"]): int(note["pid"])
        for note in _notes(config)
        if isinstance(note.get("sessionId"), str)
    }


def _presence(note: Mapping[str, Any]) -> Presence:
    session, waiting, updated = (note.get(key) for key in ("sessionId", "waitingFor", "updatedAt"))
    return Presence(
        activity=_ACTIVITIES.get(str(note.get("status")), Activity.UNKNOWN),
        waiting_for=waiting if isinstance(waiting, str) else None,
        session_id=SessionId(session) if isinstance(session, str) else None,
        shells=_SHELLS.get(str(note.get("status"))),
        updated=updated / 1000 if isinstance(updated, int | float) else None,
    )


def _notes(config: Path) -> Iterator[dict[str, Any]]:
    """The notes of all live processes."""
    try:
        paths = sorted((config / "sessions").glob("[0-9]*.json"))
    except OSError:
        return
    for path in paths:
        if note := _live_note(path):
            yield note


def _live_note(path: Path) -> dict[str, Any] | None:
    try:
        note = json.loads(read_file(path, _NOTE_BYTES, follow_links=False))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(note, dict) or note.get("pid") != _number(path.stem):
        return None
    started = _stat(note["pid"])
    return note if started and str(note.get("procStart")) == started[1] else None


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _stat(pid: int) -> tuple[int, str] | None:
    """Parent and start time (clock ticks after boot) of a process that has not ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    # The name in parentheses may hold anything, parentheses included.
    fields = text.rpartition(")")[2].split()
    if len(fields) < 20 or fields[0] in ("Z", "X"):
        return None
    return int(fields[1]), fields[19]


def _ancestors(pid: int) -> Iterator[int]:
    for _ in range(16):
        seen = _stat(pid)
        if seen is None or seen[0] <= 1:
            return
        pid = seen[0]
        yield pid
