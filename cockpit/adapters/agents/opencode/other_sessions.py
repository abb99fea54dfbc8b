"""Live sessions of opencode, including those that cockpit did not start.

cockpit finds processes by their name and their open log, a process's session by the log's lines
(`process_log`), and a session's data in the database. A session is found after its first prompt.
If the user opens another session in the same process, that session is found after its next prompt.
Linux only: on other systems, cockpit cannot read which files a process has open. Implements
`ports.live_sessions.LiveSessions`.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cockpit.adapters.agents.opencode.process_log import ProcessLog, Run, Started, runs_of
from cockpit.adapters.agents.opencode.sessions import check_resumable, database
from cockpit.adapters.agents.opencode.stored_session import (
    StoredSession,
    stored_session,
    transcript_lines,
)
from cockpit.adapters.agents.reported_paths import is_absolute
from cockpit.adapters.files.private_file import write_private
from cockpit.adapters.files.watched_entries import watch_entries
from cockpit.adapters.process.open_files import has_open
from cockpit.adapters.process.process_table import (
    arguments,
    directory,
    entry,
    name,
    owner,
    pids,
    started_at,
)
from cockpit.core.ids import SessionId
from cockpit.ports.live_sessions import LiveSession, Obstacle
from cockpit.ports.runtimes import Activity

COPIES = "opencode-elsewhere"
"""The folder of the transcripts that this module writes, below the state folder. It is not the
plugin's folder, because the plugin would append to a transcript that it finds in its own folder."""
PROGRAM = "opencode"
MOST_SESSIONS = 20
"""Maximum number of sessions of one process that are read, the latest first."""
LONGEST_WORD = 80
KEPT_SECONDS = 30 * 86_400
"""Seconds for which a transcript is kept after it was last written."""
GAP = 1.0
"""Seconds to wait after a change of the log before calling the watcher, because a turn writes many
lines."""
_MODES = ("acp", "run", "serve", "web", "github", "pr")
"""Commands of opencode that open sessions without a screen."""


@dataclass(frozen=True, slots=True)
class _Process:
    started: int
    began: float
    directory: str


class OpencodeSessions:
    """Finds sessions by opencode's log and database. `environment` determines their paths.

    Writes transcripts of sessions to `folder`, which belongs to cockpit.
    """

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        self._environment = environment
        self._folder = folder
        self._database = database(environment)
        self._log_path = self._database.parent / "log" / "opencode.log"
        self._log = ProcessLog(self._log_path)
        self._one_at_a_time = threading.Lock()
        self._written: dict[str, int] = {}
        """By session id: the value of `StoredSession.updated` when the transcript was last
        written."""

    def look(self) -> Sequence[LiveSession]:
        """Return the latest session of each of this user's processes, ordered by pid.

        Reads the new lines of the log, and the sessions' rows in the database.
        """
        with self._one_at_a_time:
            processes = self._processes()
            if not processes:
                return []
            try:
                runs = list(self._log.read())
            except OSError:
                return []
        started = [Started(pid, live.began, live.directory) for pid, live in processes.items()]
        sessions: list[LiveSession] = []
        for pid, run in runs_of(started, runs).items():
            with suppress(OSError):
                session = self._session(pid, processes[pid], run)
                if session is not None:
                    sessions.append(session)
        return sorted(sessions, key=lambda session: session.pid)

    def transcript(self, session: LiveSession) -> Path | None:
        """Return the path of the session's transcript, written again if the session has changed.

        None if opencode's database has no such session, or after an error.
        """
        path = self._folder / f"{session.id}.jsonl"
        with self._one_at_a_time, suppress(OSError):
            stored = stored_session(self._database, session.id)
            if stored is None:
                return None
            if self._written.get(session.id) != stored.updated or not path.is_file():
                lines = "".join(f"{line}\n" for line in transcript_lines(self._database, stored))
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                _remove_old(self._folder)
                write_private(path, lines.encode("utf-8", "replace"))
                self._written[session.id] = stored.updated
            return path
        return None

    def check_reopenable(
        self, session: LiveSession, environment: Mapping[str, str] | None = None
    ) -> None:
        check_resumable(session.id, session.directory, environment or self._environment)

    def by_hand(self, session: LiveSession) -> Sequence[str]:
        return ("opencode", "--session", session.id)

    def watch(self, call: Callable[[], None]) -> Callable[[], None]:
        """Call `call` after the log changes: opencode writes to the log when a session or a turn
        begins and ends."""
        loop = asyncio.get_running_loop()
        later: asyncio.TimerHandle | None = None

        def due() -> None:
            nonlocal later
            later = None
            call()

        def changed() -> None:
            nonlocal later
            if later is None:
                later = loop.call_later(GAP, due)

        stop_entries = watch_entries(self._log_path.parent, changed, open_files=True)

        def stop() -> None:
            stop_entries()
            if later is not None:
                later.cancel()

        return stop

    def _processes(self) -> dict[int, _Process]:
        """Return this user's processes that have the log open, by pid."""
        return dict(_processes(self._log_path))

    def _session(self, pid: int, process: _Process, run: Run) -> LiveSession | None:
        """Return the latest session in the run's lines that is not a subagent's; None if there is
        none."""
        latest = list(reversed(run.sessions))[:MOST_SESSIONS]
        stored = (stored_session(self._database, ident) for ident in latest)
        main = [session for session in stored if session is not None and session.is_main]
        if not main or not is_absolute(main[0].directory):
            return None
        session, *others = main
        return LiveSession(
            id=SessionId(session.id),
            runtime="opencode",
            pid=pid,
            started=process.started,
            directory=Path(session.directory),
            activity=Activity.BUSY if session.is_working else Activity.IDLE,
            kind=_kind(arguments(pid)),
            began=process.began,
            changed=session.updated / 1000,
            version=session.version[:LONGEST_WORD],
            obstacle=_obstacle(others),
        )


def _processes(log: Path) -> Iterator[tuple[int, _Process]]:
    try:
        state = log.stat()
    except OSError:
        return
    for pid in pids():
        if name(pid) != PROGRAM or owner(pid) != os.geteuid() or not has_open(pid, state):
            continue
        process, began, place = entry(pid), started_at(pid), directory(pid)
        if process is not None and not process.ended and began is not None and place is not None:
            yield pid, _Process(process.started, began, str(place))


def _remove_old(folder: Path) -> None:
    """Remove transcripts that were last written more than `KEPT_SECONDS` ago."""
    for path in folder.glob("*.jsonl"):
        if path.stat().st_mtime < time.time() - KEPT_SECONDS:
            path.unlink(missing_ok=True)


def _kind(words: Sequence[str]) -> str:
    """Return the command that runs opencode without a screen, such as `serve`; else
    `interactive`."""
    return words[1] if len(words) > 1 and words[1] in _MODES else "interactive"


def _obstacle(others: Sequence[StoredSession]) -> Obstacle | None:
    working = [session.id for session in others if session.is_working]
    if not working:
        return None
    return Obstacle(
        f"The session's process also works in session {working[0]}, which would be interrupted.",
        "Wait until that session's turn is over",
    )
