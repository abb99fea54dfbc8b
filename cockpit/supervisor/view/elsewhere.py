"""Build rows for sessions that cockpit did not start.

Reads the ends of the transcripts, only while a client requests the rows.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from pathlib import Path

from cockpit.adapters.files.foreign_files import is_file
from cockpit.core.errors import CockpitError
from cockpit.core.safetext import safe_line
from cockpit.core.timestamps import rfc3339
from cockpit.ports.live_sessions import LiveSession
from cockpit.ports.processes import ProcessId
from cockpit.ports.slow_calls import NoAnswer
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.adoptable import check_adoptable
from cockpit.supervisor.sessions.context_usage import filling
from cockpit.supervisor.sessions.elsewhere import OtherSessions
from cockpit.supervisor.sessions.transcript_end import TranscriptEnd
from cockpit.supervisor.view.rows import LONGEST_ASKED, shown_goal
from cockpit.wire.status import ContextStatus, ElsewhereSession, MarksStatus

COUNT_SECONDS = 5.0
"""Minimum seconds between two counts of the sessions. CLIs rewrite status files several times a
minute."""
READ_SECONDS = 2.0
"""Seconds between two checks of the transcripts while a client follows the sessions."""
KEPT_SECONDS = 15.0
"""Seconds for which transcript readings are cached after a call of `ElsewhereRows.rows`."""
SETTING_SECONDS = 30.0
"""Maximum seconds until a change of `[elsewhere] show` is detected."""
PATIENCE = 2.0
"""Time limit in seconds for one step of reading a transcript."""
LONGEST_PATH = 4096
LONGEST_REASON = 600


class ElsewhereRows:
    """The sessions that cockpit did not start, as clients receive them."""

    def __init__(
        self,
        dependencies: Dependencies,
        fleet: Fleet,
        others: OtherSessions,
        is_watched: Callable[[LiveSession], bool],
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._others = others
        self._is_watched = is_watched
        self._readings: dict[tuple[Path, int], TranscriptEnd] = {}
        """The ends of transcripts, by path and pid. Cached while a client follows the rows, and for
        `KEPT_SECONDS` after a call of `rows`."""
        self._followers = 0
        self._forgetting: asyncio.TimerHandle | None = None
        self._one_at_a_time = asyncio.Lock()
        """Keeps two threads from reading one transcript at the same time."""

    async def rows(self) -> list[ElsewhereSession] | None:
        """Return all sessions with their context usage; None if `[elsewhere] show` is off."""
        if not self._others.enabled:
            return None
        try:
            return await self._rows(await self._look())
        finally:
            self._forget_later()

    def _forget_later(self) -> None:
        """Drop the cached readings after a delay, so that the next call of `rows` can use them."""
        if self._forgetting is not None:
            self._forgetting.cancel()
        self._forgetting = asyncio.get_running_loop().call_later(KEPT_SECONDS, self._forget)

    def _forget(self) -> None:
        if not self._followers:
            self._readings.clear()

    async def follow(self) -> AsyncGenerator[list[ElsewhereSession]]:
        """Yield all sessions with their context usage: at once, and after each change.

        Yields an empty list while `[elsewhere] show` is off.
        """
        wake = asyncio.Event()
        stop = self._dependencies.live_sessions.watch(wake.set)
        ends: dict[ProcessId, Callable[[], None]] = {}
        last: list[ElsewhereSession] | None = None
        self._followers += 1
        try:
            while True:
                wake.clear()
                sessions = await self._look()
                self._watch_ends(sessions, ends, wake.set)
                rows = await self._rows(sessions)
                if (now := [_without_age(row) for row in rows]) != last:
                    last = now
                    yield rows
                # Not `wait_for`: before Python 3.12 it can swallow a cancellation.
                with suppress(TimeoutError):
                    async with asyncio.timeout(READ_SECONDS if sessions else SETTING_SECONDS):
                        await wake.wait()
        finally:
            stop()
            for forget in ends.values():
                forget()
            self._followers -= 1
            self._forget()

    async def counts(self) -> AsyncGenerator[int]:
        """Yield the number of sessions whenever it changes; 0 while `[elsewhere] show` is off.

        Counts only when the sessions may have changed, the setting changed, or a listed process
        ended.
        """
        wake = asyncio.Event()
        stop = self._dependencies.live_sessions.watch(wake.set)
        ends: dict[ProcessId, Callable[[], None]] = {}
        last: int | None = None
        try:
            while True:
                wake.clear()
                enabled = self._others.enabled
                with suppress(NoAnswer, OSError):  # counted again at the next change
                    sessions = await self._others.look()
                    self._watch_ends(sessions, ends, wake.set)
                    if len(sessions) != last:
                        last = len(sessions)
                        yield last
                await asyncio.sleep(COUNT_SECONDS)
                while not wake.is_set() and enabled == self._others.enabled:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(SETTING_SECONDS):
                            await wake.wait()
        finally:
            stop()
            for forget in ends.values():
                forget()

    async def _look(self) -> list[LiveSession]:
        try:
            return await self._others.look()
        except NoAnswer:
            return []  # tried again at the next change

    def _watch_ends(
        self,
        sessions: list[LiveSession],
        ends: dict[ProcessId, Callable[[], None]],
        call: Callable[[], None],
    ) -> None:
        """Watch for the end of processes: a killed process may leave its status file."""
        living = {process for session in sessions if (process := self._others.identify(session))}
        for ended in ends.keys() - living:
            ends.pop(ended)()
        for process in living - ends.keys():
            ends[process] = self._dependencies.processes.on_exit(process, call)

    async def _rows(self, sessions: list[LiveSession]) -> list[ElsewhereSession]:
        async with self._one_at_a_time:
            rows = [await self._row(session) for session in sessions]
            listed = {(Path(row.transcript), row.pid) for row in rows if row.transcript}
            for unlisted in self._readings.keys() - listed:
                del self._readings[unlisted]
        return rows

    async def _row(self, session: LiveSession) -> ElsewhereSession:
        parts = self._dependencies
        path = reading = None
        with suppress(NoAnswer, OSError):
            key = ("elsewhere", session.id)
            path = await parts.slow.ask(
                key, lambda: parts.live_sessions.transcript(session), PATIENCE
            )
            if path is not None:
                reading = await self._read(session, path)
        place = self._others.place(session)
        return ElsewhereSession(
            session_id=session.id,
            runtime=session.runtime,
            pid=session.pid,
            directory=safe_line(str(session.directory), LONGEST_PATH),
            kind=_shown(session.kind),
            status=session.activity.value,
            waiting_for=_shown(session.waiting_for),
            started_at=_time(session.began),
            changed_at=_time(session.changed),
            version=_shown(session.version),
            goal=shown_goal(reading.goal[:LONGEST_ASKED]) if reading and reading.goal else None,
            terminal=_shown(place.terminal),
            pane=_shown(place.pane),
            tmux_socket=_shown(place.tmux_socket, LONGEST_PATH),
            refusal=await self._refusal(session),
            transcript=str(path) if reading is not None else None,
            model=_shown(reading.model) if reading else None,
            context=self._context(session, reading) if reading else ContextStatus(),
            watched=self._is_watched(session),
        )

    async def _refusal(self, session: LiveSession) -> str | None:
        """Return why the session cannot be adopted now; None if no reason is known."""
        try:
            await check_adoptable(self._dependencies, self._fleet, session)
        except (NoAnswer, OSError):
            return None  # unknown: `Adopt` checks again
        except CockpitError as error:
            lines = (error.title, *error.detail.splitlines(), error.hint)
            return safe_line(". ".join(line.rstrip(".") for line in lines if line), LONGEST_REASON)
        return None

    async def _read(self, session: LiveSession, path: Path) -> TranscriptEnd | None:
        """Return the end of the transcript; None if there is no such file."""
        parts, key = self._dependencies, (path, session.pid)
        runtime = parts.runtimes(session.runtime)

        def read() -> TranscriptEnd | None:
            if not is_file(path):
                return None
            reading = self._readings.get(key) or TranscriptEnd(path, runtime)
            reading.read()
            return reading

        if (end := await parts.slow.ask(path, read, PATIENCE)) is not None:
            self._readings[key] = end
        return end

    def _context(self, session: LiveSession, reading: TranscriptEnd) -> ContextStatus:
        usage = filling(self._dependencies, self._fleet, session.runtime, reading)
        if usage is None:
            return ContextStatus()
        now, replied = self._dependencies.clock.now().timestamp(), reading.replied
        return ContextStatus(
            tokens=usage.tokens,
            window=usage.window.tokens,
            used=round(usage.used, 4),
            band=usage.band.value,
            confidence=usage.window.confidence.value,
            source="transcript",
            age_seconds=round(max(0.0, now - replied), 1) if replied is not None else None,
            compacts_at=usage.compacts_at,
            compacts_at_source="formula" if usage.compacts_at else None,
            marks=MarksStatus.of(usage.marks),
        )


def _shown(text: str | None, longest: int = 80) -> str | None:
    return safe_line(text, longest) if text else None


def _time(seconds: float | None) -> str | None:
    return rfc3339(seconds) if seconds is not None else None


def _without_age(row: ElsewhereSession) -> ElsewhereSession:
    return row.model_copy(update={"context": row.context.model_copy(update={"age_seconds": None})})
