"""All live sessions of Copilot, including those that cockpit did not start.

Copilot lists its open sessions in one file. In each session's folder, it writes marks: files named
after the pid of the session's process. The entry and the marks of a killed process remain, so
cockpit checks that the process still has the session open. Implements
`ports.live_sessions.LiveSessions`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from cockpit.adapters.agents.copilot.sessions import (
    TRANSCRIPT,
    check_resumable,
    config_folder,
    session_directory,
    session_folder,
)
from cockpit.adapters.agents.reported_paths import is_absolute
from cockpit.adapters.files.foreign_files import is_file, read_file
from cockpit.adapters.files.watched_entries import watch_entries
from cockpit.adapters.process.open_files import has_open
from cockpit.adapters.process.process_table import entry, owner, started_at
from cockpit.config.kernel import USES_LINUX
from cockpit.core.foreign_json import loads
from cockpit.core.ids import SessionId
from cockpit.core.timestamps import moment
from cockpit.ports.live_sessions import LiveSession
from cockpit.ports.runtimes import Activity

OPEN_SESSIONS = "open-sessions-state.json"
LARGEST = 1_048_576
MOST = 200
"""Maximum number of open sessions that are checked: the newest, which are last in the file."""
CLOCK_SLACK = 1.0
"""Tolerance in seconds: some systems report the start of a process in whole seconds."""


class CopilotSessions:
    """Finds sessions by Copilot's files. `environment` determines Copilot's configuration
    folder."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def look(self) -> Sequence[LiveSession]:
        """Return this user's live sessions, ordered by pid.

        Reads Copilot's list of open sessions, and the marks in the sessions' folders.
        """
        sessions: list[LiveSession] = []
        for ident, fields in _open_sessions(config_folder(self._environment)):
            folder = session_folder(ident, self._environment)
            if folder is not None:
                sessions += _sessions(SessionId(ident), folder, fields)
        return sorted(sessions, key=lambda session: session.pid)

    def transcript(self, session: LiveSession) -> Path | None:
        folder = session_folder(session.id, self._environment)
        return folder / TRANSCRIPT if folder is not None else None

    def check_reopenable(
        self, session: LiveSession, environment: Mapping[str, str] | None = None
    ) -> None:
        check_resumable(session.id, session.directory, environment or self._environment)

    def by_hand(self, session: LiveSession) -> Sequence[str]:
        return ("copilot", "--resume", session.id)

    def watch(self, call: Callable[[], None]) -> Callable[[], None]:
        """Call `call` when Copilot's list of open sessions may have changed.

        The list changes when a session opens, and when a turn begins or ends, but not when a
        process ends.
        """
        return watch_entries(config_folder(self._environment), call)


def _open_sessions(config: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        listed = loads(read_file(config / OPEN_SESSIONS, LARGEST, follow_links=False))
    except (OSError, ValueError, RecursionError):
        return
    if isinstance(listed, dict):
        for ident, fields in list(listed.items())[-MOST:]:
            yield ident, fields if isinstance(fields, dict) else {}


def _sessions(ident: SessionId, folder: Path, fields: Mapping[str, Any]) -> Iterator[LiveSession]:
    """Yield one `LiveSession` for each process that has the session open; usually one process."""
    processes = [pid for pid in _marked(folder) if _has_open(pid, folder)]
    directory = _directory(folder / TRANSCRIPT) if processes else None
    if directory is None:
        return
    opened_at = moment(fields.get("openedAt"))
    for pid in processes:
        process = entry(pid)
        if process is not None and not process.ended:
            yield LiveSession(
                id=ident,
                runtime="copilot",
                pid=pid,
                started=process.started,
                directory=directory,
                activity=_activity(fields.get("working")),
                began=opened_at.timestamp() if opened_at else None,
            )


def _activity(working: object) -> Activity:
    """Return `BUSY` during a turn, even while a dialog is open; else `IDLE` or `UNKNOWN`."""
    if not isinstance(working, bool):
        return Activity.UNKNOWN
    return Activity.BUSY if working else Activity.IDLE


def _marked(folder: Path) -> Iterator[int]:
    """Yield the pid of each mark `inuse.PID.lock` in a session's folder."""
    with suppress(OSError):
        for path in folder.glob("inuse.*.lock"):
            pid = path.name.split(".")[1]
            if pid.isascii() and pid.isdecimal():
                yield int(pid)


def _has_open(pid: int, folder: Path) -> bool:
    """Return whether a process of this user has the session open.

    On Linux, checks whether the process has the file `inuse.PID.hold` open; on other systems,
    whether the process started before the mark was written.
    """
    if owner(pid) != os.geteuid():
        return False
    try:
        if USES_LINUX:
            hold = (folder / f"inuse.{pid}.hold").stat(follow_symlinks=False)
            return has_open(pid, hold)
        marked = (folder / f"inuse.{pid}.lock").stat(follow_symlinks=False)
    except OSError:
        return False
    began = started_at(pid)
    return began is not None and began <= marked.st_mtime + CLOCK_SLACK


def _directory(transcript: Path) -> Path | None:
    """Return the directory in which the session began; None if the transcript has none."""
    try:
        named = session_directory(transcript) if is_file(transcript) else None
    except OSError:
        return None
    return Path(named) if named is not None and is_absolute(named) else None
