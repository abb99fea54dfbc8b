"""All live sessions of Claude Code, including those that cockpit did not start.

`claude agents --json` reads the same files, but takes seconds. Implements
`ports.live_sessions.LiveSessions`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cockpit.adapters.agents.claude.live_sessions import activity, notes
from cockpit.adapters.agents.claude.sessions import check_reopenable, record_path
from cockpit.adapters.agents.claude.settings import config_folder
from cockpit.adapters.agents.reported_paths import is_absolute
from cockpit.adapters.agents.resumable_sessions import is_session_id
from cockpit.adapters.files.watched_entries import watch_entries
from cockpit.adapters.process.process_table import entry, owner
from cockpit.config.kernel import USES_LINUX
from cockpit.core.ids import SessionId
from cockpit.core.timestamps import unix_milliseconds
from cockpit.ports.live_sessions import LiveSession

LONGEST_WORD = 80
MOST = 200
"""Maximum number of listed sessions."""


class ClaudeSessions:
    """Finds sessions by their status files. `environment` determines the CLI's configuration
    folder."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def look(self) -> Sequence[LiveSession]:
        """Return the sessions of this user's live processes, ordered by pid; at most `MOST`."""
        config, sessions = config_folder(self._environment), list[LiveSession]()
        for note in notes(config):
            if (session := _session(note)) is not None:
                sessions.append(session)
            if len(sessions) == MOST:
                break
        return sorted(sessions, key=lambda session: session.pid)

    def transcript(self, session: LiveSession) -> Path | None:
        return record_path(session.id, session.directory, self._environment)

    def check_reopenable(
        self, session: LiveSession, environment: Mapping[str, str] | None = None
    ) -> None:
        check_reopenable(session.id, session.directory, environment or self._environment)

    def by_hand(self, session: LiveSession) -> Sequence[str]:
        return ("claude", "--resume", session.id)

    def watch(self, call: Callable[[], None]) -> Callable[[], None]:
        return watch_entries(config_folder(self._environment) / "sessions", call)


def _session(note: Mapping[str, Any]) -> LiveSession | None:
    """Return the session in a status file; None if the id or the directory is missing or invalid,
    or if the process has ended or is another user's."""
    ident, directory, pid = note.get("sessionId"), note.get("cwd"), int(note["pid"])
    if not isinstance(ident, str) or not is_session_id(ident):
        return None
    if not isinstance(directory, str) or not is_absolute(directory):
        return None
    process = entry(pid)
    if process is None or process.ended or owner(pid) != os.geteuid():
        return None
    if USES_LINUX and str(process.started) != str(note.get("procStart")):
        return None  # the process ended, and its pid was reused
    return LiveSession(
        id=SessionId(ident),
        runtime="claude",
        pid=pid,
        started=process.started,
        directory=Path(directory),
        activity=activity(note),
        kind=_word(note.get("kind")) or "",
        waiting_for=_word(note.get("waitingFor")),
        began=_seconds(note.get("startedAt")),
        changed=_seconds(note.get("statusUpdatedAt")),
        version=_word(note.get("version")) or "",
    )


def _word(value: object) -> str | None:
    return value[:LONGEST_WORD] if isinstance(value, str) and value else None


def _seconds(value: object) -> float | None:
    """Convert a status file's time from milliseconds to seconds; None if it is not a valid time."""
    return unix_milliseconds(value) or None
