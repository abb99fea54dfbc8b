"""All live sessions of Codex, including those that cockpit did not start.

As of 0.169, a process that can write to a session holds a lock (`flock`) on a file named after the
session's id, and has the session's transcript open. The kernel lists the process that holds each
lock, so a session of a killed process is not found. On systems without Linux's list of locks, no
session is found. Implements `ports.live_sessions.LiveSessions`.

A session has no transcript, and is not found, before its first prompt. After `/clear`, Codex keeps
the previous session open for a minute.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from cockpit.adapters.agents.codex.sessions import (
    check_resumable,
    config_folder,
    first_record,
    record_path,
    reported_transcript,
)
from cockpit.adapters.agents.reported_paths import is_absolute
from cockpit.adapters.agents.resumable_sessions import is_session_id
from cockpit.adapters.files.foreign_files import is_file, opened
from cockpit.adapters.files.watched_entries import watch_entries
from cockpit.adapters.process.open_files import lock_holders, open_paths
from cockpit.adapters.process.process_table import arguments, entry, owner, started_at, terminal
from cockpit.core.ids import SessionId
from cockpit.ports.live_sessions import LiveSession, Obstacle
from cockpit.ports.runtimes import Activity

LOCKS = "thread-writer-locks"
MOST = 200
"""Maximum number of sessions that are checked: those with the newest locks."""
LONGEST_WORD = 80
TAIL = 262_144
"""Bytes read from the end of a transcript to find the beginning or end of the last turn."""
_TURN = re.compile(
    rb'^\{"timestamp":"[^"]*",(?:"ordinal":[0-9]+,)?"type":"event_msg",'
    rb'"payload":\{"type":"(task_started|turn_started|task_complete|turn_complete|turn_aborted)"',
    re.MULTILINE,
)
_MODES = ("app-server", "exec", "e", "exec-server", "mcp-server", "review")
"""Commands of Codex that open sessions without a screen."""


class CodexSessions:
    """Finds sessions by Codex's locks. `environment` determines Codex's configuration folder."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def look(self) -> Sequence[LiveSession]:
        """Return this user's live sessions, ordered by pid, without those of subagents."""
        held = _held(config_folder(self._environment) / LOCKS)
        sessions: list[LiveSession] = []
        others = Counter[int]()
        for ident, pid in held:
            record = _open_record(pid, ident)
            first = _first(record) if record is not None else None
            if _is_subagent(first):
                continue
            others[pid] += 1
            session = _session(ident, pid, record, first) if record and first else None
            if session is not None:
                sessions.append(session)
        sessions = [_with_obstacle(session, others[session.pid] - 1) for session in sessions]
        return sorted(sessions, key=lambda session: session.pid)

    def transcript(self, session: LiveSession) -> Path | None:
        return record_path(session.id, self._environment)

    def check_reopenable(
        self, session: LiveSession, environment: Mapping[str, str] | None = None
    ) -> None:
        check_resumable(session.id, session.directory, environment or self._environment)

    def by_hand(self, session: LiveSession) -> Sequence[str]:
        return ("codex", "resume", session.id)

    def watch(self, call: Callable[[], None]) -> Callable[[], None]:
        """Call `call` when the folder of the locks changes, or Codex's configuration folder, in
        which Codex records each prompt."""
        config = config_folder(self._environment)
        stops = [watch_entries(folder, call) for folder in (config / LOCKS, config)]

        def stop() -> None:
            for stop in stops:
                stop()

        return stop


def open_session(pid: int, environment: Mapping[str, str]) -> SessionId | None:
    """Return the session that process `pid` or one of its children has open.

    npm's `codex` runs Codex as a child. Subagents' sessions are ignored. None if there is no such
    session, if there are several, or if the session has no transcript.
    """
    sessions: list[tuple[SessionId, Mapping[str, Any] | None]] = []
    for ident, holder in _held(config_folder(environment) / LOCKS):
        process = entry(holder)
        if holder == pid or (process is not None and process.parent == pid):
            record = _open_record(holder, ident)
            sessions.append((ident, _first(record) if record is not None else None))
    main = [(ident, first) for ident, first in sessions if not _is_subagent(first)]
    return main[0][0] if len(main) == 1 and main[0][1] is not None else None


def _is_subagent(first: Mapping[str, Any] | None) -> bool:
    return first is not None and first.get("thread_source") == "subagent"


def _held(folder: Path) -> list[tuple[SessionId, int]]:
    """Return each session whose lock a process of this user holds, and the process's pid."""
    locks: dict[SessionId, os.stat_result] = {}
    with suppress(OSError), os.scandir(folder) as entries:
        for lock in entries:
            ident, _, ending = lock.name.partition(".")
            if ending == "lock" and is_session_id(ident):
                with suppress(OSError):
                    locks[SessionId(ident)] = lock.stat(follow_symlinks=False)
    newest = sorted(locks, key=lambda ident: locks[ident].st_mtime_ns, reverse=True)[:MOST]
    holders = lock_holders(locks[ident] for ident in newest)
    held = [(ident, holders.get(locks[ident].st_ino)) for ident in newest]
    return [(ident, pid) for ident, pid in held if pid and owner(pid) == os.geteuid()]


def _open_record(pid: int, ident: SessionId) -> Path | None:
    """Return the path of the session's transcript; None if the process does not have the transcript
    open, as before the first prompt."""
    for path in open_paths(pid):
        record = reported_transcript(str(path), ident)
        if record is not None and is_file(record):
            return record
    return None


def _first(record: Path) -> Mapping[str, Any] | None:
    try:
        return first_record(record)
    except OSError:
        return None


def _session(
    ident: SessionId, pid: int, record: Path, first: Mapping[str, Any]
) -> LiveSession | None:
    directory, process = first.get("cwd"), entry(pid)
    if not isinstance(directory, str) or not is_absolute(directory):
        return None
    if process is None or process.ended:
        return None
    version = first.get("cli_version")
    return LiveSession(
        id=ident,
        runtime="codex",
        pid=pid,
        started=process.started,
        directory=Path(directory),
        activity=_activity(record),
        kind=_kind(pid),
        began=started_at(pid),
        version=version[:LONGEST_WORD] if isinstance(version, str) else "",
        restores_screen=False,
    )


def _kind(pid: int) -> str:
    """Return the command that runs Codex without a screen, such as `exec`; else `interactive`."""
    words = arguments(pid)[1:]
    options = words[: words.index("--")] if "--" in words else words
    return next((word for word in options if word in _MODES), "interactive")


def _with_obstacle(session: LiveSession, others: int) -> LiveSession:
    if session.kind == "app-server":
        obstacle = Obstacle(
            "Codex runs the sessions of all terminals in one background process.",
            "End the session in its terminal (/quit); Codex closes it within about a minute",
        )
    elif not terminal(session.pid):
        obstacle = Obstacle(
            "Codex runs the session without a terminal, for a script or another program.",
            "Wait until that program has ended, or end it yourself",
        )
    elif others:
        obstacle = Obstacle(
            f"The session's process has {others + 1} sessions open; all of them would end.",
            "If you left the session with /clear, wait a minute; otherwise end the session "
            "in its terminal",
        )
    else:
        return session
    return replace(session, obstacle=obstacle)


def _activity(record: Path) -> Activity:
    """Return `BUSY` during a turn, even while a dialog is open, else `IDLE`.

    `UNKNOWN` if the last `TAIL` bytes contain neither the beginning nor the end of a turn.
    """
    try:
        with opened(record) as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - TAIL))
            matches = _TURN.findall(file.read(TAIL))
    except OSError:
        return Activity.UNKNOWN
    if not matches:
        return Activity.UNKNOWN
    return Activity.BUSY if matches[-1].endswith(b"_started") else Activity.IDLE
