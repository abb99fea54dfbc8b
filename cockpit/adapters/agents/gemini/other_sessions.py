"""Live sessions of Gemini, including those that cockpit did not start.

Gemini 0.61 does not show which process has which session open: it opens the transcript only to
write a line. So cockpit's extension writes a note for each process at the start of a session, and
at the beginning and end of a turn. Without the extension, no session is found. Implements
`ports.live_sessions.LiveSessions`.

If the user opens another session with `/resume`, the note changes at the next prompt.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from cockpit.adapters.agents.gemini.extension import notes_folder
from cockpit.adapters.agents.gemini.sessions import check_resumable, record_path
from cockpit.adapters.agents.gemini.settings import config_folder
from cockpit.adapters.agents.reported_paths import is_absolute
from cockpit.adapters.agents.resumable_sessions import is_session_id
from cockpit.adapters.files.foreign_files import read_text, stamp
from cockpit.adapters.files.watched_entries import watch_entries
from cockpit.adapters.process.process_table import arguments, entry, owner, started_at
from cockpit.config.kernel import USES_LINUX
from cockpit.core.ids import SessionId
from cockpit.ports.live_sessions import LiveSession
from cockpit.ports.runtimes import Activity

MOST = 200
"""Maximum number of notes that are read: those with the lowest pids."""
LARGEST = 8192
CLOCK_SLACK = 1.0
"""Tolerance in seconds: some systems report the start of a process in whole seconds."""
_MODES = ("-p", "--prompt", "--acp", "--experimental-acp")
"""Options of Gemini for sessions without a screen."""
IDLE_AFTER = ("SessionStart", "AfterAgent")
"""Events after which no turn is open. After any other event, a turn may be open: a cancelled turn
has no event at its end."""


class GeminiSessions:
    """Finds sessions by the notes that cockpit's extension writes.

    `environment` determines the Gemini folder, in which Gemini stores the path of the linked
    extension.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def look(self) -> Sequence[LiveSession]:
        """Return the sessions in the notes of this user's live processes, ordered by pid."""
        folder = notes_folder(self._environment)
        sessions = (_session(folder / str(pid), pid) for pid in _pids(folder)) if folder else ()
        live = [session for session in sessions if session is not None]
        return sorted(live, key=lambda session: session.pid)

    def transcript(self, session: LiveSession) -> Path | None:
        return record_path(session.id, self._environment)

    def check_reopenable(
        self, session: LiveSession, environment: Mapping[str, str] | None = None
    ) -> None:
        check_resumable(session.id, session.directory, environment or self._environment)

    def by_hand(self, session: LiveSession) -> Sequence[str]:
        return ("gemini", "--resume", session.id)

    def watch(self, call: Callable[[], None]) -> Callable[[], None]:
        """Call `call` when a note changes or, if the extension is not linked, when Gemini's folder
        of extensions changes."""
        folder = notes_folder(self._environment)
        return watch_entries(folder or config_folder(self._environment) / "extensions", call)


def _pids(folder: Path) -> Iterator[int]:
    with suppress(OSError), os.scandir(folder) as entries:
        names = (note.name for note in entries)
        pids = [int(name) for name in names if name.isascii() and name.isdecimal()]
        yield from sorted(pids)[:MOST]


def _session(note: Path, pid: int) -> LiveSession | None:
    """Return the session in a note; None if the process that wrote the note has ended or is
    another user's, or if the note is invalid."""
    process = entry(pid)
    if process is None or process.ended or owner(pid) != os.geteuid():
        return None
    try:
        written = stamp(note)[1] / 1e9
        lines = read_text(note, LARGEST).removesuffix("\n").split("\n", 3)
        ident, event, started, directory = lines
    except (OSError, ValueError):
        return None
    began = started_at(pid)
    if USES_LINUX:
        is_writer = started == str(process.started)
    else:
        is_writer = began is not None and began <= written + CLOCK_SLACK
    if not is_writer:
        return None  # the process ended, and its pid was reused
    if not is_session_id(ident) or not is_absolute(directory):
        return None
    return LiveSession(
        id=SessionId(ident),
        runtime="gemini",
        pid=pid,
        started=process.started,
        directory=Path(directory),
        activity=Activity.IDLE if event in IDLE_AFTER else Activity.UNKNOWN,
        kind=_kind(arguments(pid)),
        began=began,
    )


def _kind(words: Sequence[str]) -> str:
    """Return the option that runs Gemini without a screen, without its dashes; else
    `interactive`."""
    names = (word.partition("=")[0] for word in words)
    return next((name.lstrip("-") for name in names if name in _MODES), "interactive")
