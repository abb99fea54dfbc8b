"""At the user's request, watch sessions that cockpit did not start.

Such a session is only read. Its transcript and the CLI's list of open sessions are read when they
change. An event notifies the user when the context passes the act threshold: once per session, and
once more after each compaction. A watch is stored for a process, so it continues after a restart of
the supervisor and after `/clear`, and ends with the process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from cockpit.adapters.files.watched_files import watch_files
from cockpit.core.bands import Band
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import NotNow, OsProblem
from cockpit.core.events import ElsewhereCrossed
from cockpit.core.ids import SessionId
from cockpit.core.reading import Confidence
from cockpit.core.safetext import safe_line
from cockpit.core.short_ids import short_session_id
from cockpit.ports.live_sessions import LiveSession
from cockpit.ports.processes import ProcessId
from cockpit.ports.slow_calls import NoAnswer
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.context_usage import Filling, filling
from cockpit.supervisor.sessions.elsewhere import OtherSessions
from cockpit.supervisor.sessions.transcript_end import TranscriptEnd
from cockpit.wire.verbs import Done, WatchSession

WATCHED = "elsewhere.watched"
"""Name of the stored flag that marks a process as watched."""
GAP = 1.0
"""Minimum seconds between two reads of a transcript: a working CLI writes many times a second."""
RETRY = 5.0
"""Seconds after an error until the transcript is read again."""
PATIENCE = 5.0
"""Time limit in seconds for one step of reading a transcript."""


@dataclass(slots=True)
class _Watched:
    """A watched process: its session's transcript, and how far the transcript was read."""

    path: Path | None = None
    """The transcript; None until it is known."""
    reading: TranscriptEnd | None = None
    forget: Callable[[], None] = lambda: None
    """Stops waiting for the end of the process."""


class ElsewhereWatch:
    """Watches sessions that cockpit did not start (`WatchSession`), and notifies the user."""

    def __init__(self, dependencies: Dependencies, fleet: Fleet, others: OtherSessions) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._others = others
        self._watched: dict[ProcessId, _Watched] = {}
        self._wake = asyncio.Event()
        self._notes: Callable[[], None] | None = None
        """Stops the watch of the CLIs' open sessions; None while nothing is watched."""
        self._files: tuple[Path, ...] = ()
        self._stop_files: Callable[[], None] = lambda: None

    def is_watched(self, session: LiveSession) -> bool:
        return any(
            (process.pid, process.started) == (session.pid, session.started)
            for process in self._watched
        )

    async def watch_session(self, asked: WatchSession) -> Done:
        """Start or stop watching a session; idempotent.

        Raises `NoSuchAgent`, `BadUsage`, `NotNow`, `NotAllowed` or `NoAnswer`.
        """
        session = await self._others.find(asked.session, asked.pid)
        await self._others.refuse_inside(asked.asker, "watch")
        process, short = self._others.identify(session), short_session_id(session.id)
        if process is None:
            raise NotNow(
                f"Process {session.pid} has ended",
                f"The process had session {session.id} open.",
                "List the sessions: cockpit status --elsewhere",
            )
        with self._others.hold(session, "watching"):
            known = process in self._watched
            if asked.stop:
                self._forget(process)
                return Done(message=f"Session {short} is {'no longer' if known else 'not'} watched")
            self._dependencies.store.latch(_key(process), WATCHED, self._now())
            self._add(process)
        return Done(
            message=f"{'Already watching' if known else 'Watching'} session {short} until its "
            f"process ends: cockpit notifies you when its context passes the act threshold"
            f"{self._how_notified()}"
        )

    def _how_notified(self) -> str:
        loaded = self._fleet.loaded
        wanted = loaded.settings.notifications if loaded is not None else None
        if wanted is None or not wanted.urls or "needs_you" not in wanted.on:
            return ". No [notifications] URL is set for needs_you: only an open screen notifies you"
        return ""

    # Watching

    async def run(self) -> None:
        """Restore the watches of an earlier supervisor, and watch, until cancelled."""
        try:
            with suppress(
                OsProblem
            ):  # the stored watches are kept; the next supervisor restores them
                for key in self._dependencies.store.sessions_latched(WATCHED):
                    if (process := _process(key)) is not None:
                        self._add(process)
            while True:
                self._wake.clear()
                wait = None
                try:
                    await self._look()
                except (NoAnswer, OsProblem, OSError):
                    wait = RETRY
                # Not `wait_for`: before Python 3.12 it can swallow a cancellation.
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await self._wake.wait()
                await asyncio.sleep(GAP)
        finally:
            for watched in self._watched.values():
                watched.forget()
            self._watched.clear()
            self._follow(())

    def _add(self, process: ProcessId) -> None:
        if process not in self._watched:
            watched = self._watched[process] = _Watched()
            watched.forget = self._dependencies.processes.on_exit(process, self._wake.set)
        self._wake.set()

    def _forget(self, process: ProcessId) -> None:
        """Stop watching the process, even after a restart of the supervisor. Idempotent."""
        self._dependencies.store.unlatch_all(_key(process))
        if (watched := self._watched.pop(process, None)) is not None:
            watched.forget()
        self._wake.set()

    async def _look(self) -> None:
        """Read the new transcript lines of every watched session, and forget ended processes."""
        for process in tuple(self._watched):
            if self._dependencies.processes.identify(process.pid) != process:
                self._forget(process)
        if not self._watched:
            self._follow(())
            return
        if self._notes is None:
            self._notes = self._dependencies.live_sessions.watch(self._wake.set)
        listed = {(live.pid, live.started): live for live in await self._others.look()}
        sessions: dict[ProcessId, LiveSession] = {}
        for process, watched in tuple(self._watched.items()):
            # None between two sessions of a process, and while `[elsewhere] show` is off.
            if (session := listed.get((process.pid, process.started))) is not None:
                sessions[process] = session
                await self._locate(session, watched)
        # Watch the files before they are read, so that no change is missed.
        paths = (watched.path for watched in self._watched.values())
        self._follow(path for path in paths if path is not None)
        for process, session in sessions.items():
            if process in self._watched:
                await self._read(process, session, self._watched[process])

    async def _locate(self, session: LiveSession, watched: _Watched) -> None:
        live, slow = self._dependencies.live_sessions, self._dependencies.slow
        path = await slow.ask(("watched", session.id), lambda: live.transcript(session), PATIENCE)
        if path != watched.path:
            watched.path, watched.reading = path, None

    def _follow(self, paths: Iterable[Path]) -> None:
        """Watch exactly these transcripts.

        Without a watched session, stops watching the CLIs' open sessions too.
        """
        files = tuple(sorted(set(paths)))
        if files != self._files:
            self._stop_files()
            self._files = files
            self._stop_files = watch_files(files, self._wake.set) if files else lambda: None
        if not self._watched and self._notes is not None:
            self._notes()
            self._notes = None

    async def _read(self, process: ProcessId, session: LiveSession, watched: _Watched) -> None:
        """Read new lines of the transcript.

        Notifies the user if the context passes the act threshold.
        """
        parts, path = self._dependencies, watched.path
        if path is None:
            return
        runtime = parts.runtimes(session.runtime)

        def read() -> TranscriptEnd:
            reading = watched.reading or TranscriptEnd(path, runtime)
            reading.read()
            return reading

        reading = watched.reading = await parts.slow.ask(("watched", path), read, PATIENCE)
        usage = filling(parts, self._fleet, session.runtime, reading)
        if usage is None or usage.band.severity < Band.ACT.severity:
            return
        if process not in self._watched:
            return  # the user has stopped the watch meanwhile
        # The user is notified again about another session, and after another compaction.
        crossing = f"crossed.{session.id}.{reading.compacted}"
        with parts.store.transaction():
            if parts.store.latch(_key(process), crossing, self._now()):
                self._record(session, usage)

    def _record(self, session: LiveSession, usage: Filling) -> None:
        prefix = "about " if usage.window.confidence is Confidence.ASSUMED else ""
        directory, short = safe_line(str(session.directory), 200), short_session_id(session.id)
        self._dependencies.event_log.record(
            ElsewhereCrossed(
                session=session.id,
                pid=session.pid,
                directory=safe_line(str(session.directory), 4096),
                band=usage.band.value,
                tokens=usage.tokens,
                window=usage.window.tokens,
                confidence=usage.window.confidence.value,
            ),
            f"Session {short} in {directory} is at {prefix}{usage.used:.0%} of its context "
            f"({usage.band.value}). Write its handoff document: cockpit adopt {short} --document. "
            f"Or reopen it as an agent: cockpit adopt {short}",
        )

    def _now(self) -> float:
        return self._dependencies.clock.now().timestamp()


def _key(process: ProcessId) -> SessionId:
    """Return the key under which the flags of a watched process are stored."""
    return SessionId(f"{process.boot}.{process.pid}.{process.started}")


def _process(key: SessionId) -> ProcessId | None:
    boot, *numbers = key.rsplit(".", 2)
    if len(numbers) != 2 or not all(number.isdecimal() for number in numbers):
        return None
    pid, started = map(int, numbers)
    return ProcessId(pid, started, boot)
