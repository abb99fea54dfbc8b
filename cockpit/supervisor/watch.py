"""Watching: reports, records, notes and processes, each as often as it is worth.

Reports of hooks come by a change of their folder, ends of processes by the kernel; records are
looked at 25 times a second while their agent works and twice while it does not. Trouble with one
agent stays with that agent. What is seen is handed on; what follows from it is decided elsewhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable

from cockpit.core.errors import CockpitError
from cockpit.core.handoff.events import Turn
from cockpit.core.handoff.states import is_revocable
from cockpit.core.moments import DialogOpened, SessionBegan
from cockpit.ports.runtimes import Activity, Report, Signal
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.seat import Seat
from cockpit.supervisor.secrecy import asked_without_secrets, redactor_of
from cockpit.supervisor.sessions import Sessions

HOT = 0.04
"""Seconds between looks at the record of an agent that works."""
CALM = 0.5
NOTES = 1.0
"""Seconds between looks at the CLI's own notes of its processes."""
SILENT_START = 6.0
"""Seconds after which a new session that said nothing is looked at: a dialog may be open."""

_log = logging.getLogger(__name__)

_TURNS = {
    Activity.BUSY: Turn.WORKING,
    Activity.IDLE: Turn.IDLE,
    Activity.WAITING: Turn.DIALOG,
    Activity.UNKNOWN: Turn.UNKNOWN,
}

Consider = Callable[[Seat], Awaitable[None]]


class Watch:
    """Looks at all seats, and says of each when something about it is new."""

    def __init__(
        self,
        instruments: Instruments,
        sessions: Sessions,
        seats: Callable[[], Iterable[Seat]],
        take: Callable[[], list[Signal]],
        consider: Consider,
        compacted: Callable[[Seat], None],
    ) -> None:
        self._in = instruments
        self._sessions = sessions
        self._seats = seats
        self._take = take
        self._consider = consider
        self._compacted = compacted
        self._wake = asyncio.Event()
        self._reports = asyncio.Event()

    # Reports of hooks and status lines

    def reported(self) -> None:
        """The spool has something."""
        self._reports.set()

    async def hear(self) -> None:
        """Take reports as they come, for ever."""
        while True:
            await self._reports.wait()
            self._reports.clear()
            for seat in self.hear_once():
                await self._safely(seat, self._consider(seat))

    async def consider(self, seat: Seat) -> None:
        """Have what is known of a seat looked at, without news."""
        await self._safely(seat, self._consider(seat))

    def hear_once(self) -> list[Seat]:
        """Take what is there; the seats that it was about."""
        by_name = {seat.name: seat for seat in self._seats()}
        touched: dict[str, Seat] = {}
        for signal in self._take():
            seat = by_name.get(signal.agent)
            if seat is not None and self._heard(seat, signal):
                touched[seat.name] = seat
        if touched:
            self._wake.set()
        return list(touched.values())

    def _heard(self, seat: Seat, signal: Signal) -> bool:
        """Whether a report was about the sitter; a disk that refuses makes nobody deaf."""
        try:
            return self._hear(seat, signal)
        except CockpitError as refused:
            seat.trouble = str(refused)
            return True

    def _hear(self, seat: Seat, signal: Signal) -> bool:
        """Take one report in. One of another session than the seat's is not about its sitter."""
        if not self._is_of_sitter(seat, signal):
            return False
        seat.trust_asked = None
        seat.sitting.quiet_since_start = False
        at = self._dated(seat, signal.at)
        report = seat.runtime.report(signal)
        if report is not None:
            self._take_report(seat, report, at)
            return True
        if not signal.subagent:
            seat.sitting.last_activity = max(at, seat.sitting.last_activity or 0.0)
            if isinstance(mode := signal.payload.get("permission_mode"), str):
                seat.sitting.permission_mode = mode
        for moment in seat.runtime.moments(signal):
            if isinstance(moment, DialogOpened):
                moment = asked_without_secrets(moment, redactor_of(self._in.environment, seat))
            seat.hear(moment, at)
        return True

    def _take_report(self, seat: Seat, report: Report, at: float) -> None:
        if report.transcript is not None:
            self._sessions.follow(seat, report.transcript)
        seat.report(report, at)

    def _is_of_sitter(self, seat: Seat, signal: Signal) -> bool:
        """`/clear` begins a new session in the same process: the seat follows it."""
        ours, theirs = seat.record.session, signal.session_id
        if ours is None or theirs is None or theirs == ours:
            return ours is not None
        if not seat.alive or not (seat.handoff is None or is_revocable(seat.handoff)):
            return False
        began = [
            moment
            for moment in seat.runtime.moments(signal)
            if isinstance(moment, SessionBegan) and moment.source in {"clear", "resume", "fork"}
        ]
        if not began:
            return False
        given = signal.payload.get("transcript_path")
        transcript = given if isinstance(given, str) else None
        self._sessions.cleared(seat, theirs, transcript, began[0].source)
        return True

    # Records

    async def read(self) -> None:
        """Follow the records of all seats, for ever."""
        while True:
            hot = False
            for seat in self._seats():
                if seat.alive or seat.handoff is not None:
                    hot = hot or seat.sitting.conduct.turn is Turn.WORKING or self._starting(seat)
                    await self._safely(seat, self._read_seat(seat))
            self._wake.clear()
            # Not `wait_for`: before Python 3.12 it can swallow a cancellation, and never end.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(HOT if hot else CALM):
                    await self._wake.wait()

    def _starting(self, seat: Seat) -> bool:
        return not seat.sitting.replied

    async def _read_seat(self, seat: Seat) -> None:
        if self.read_once(seat):
            await self._consider(seat)

    def read_once(self, seat: Seat) -> bool:
        """Take in what was added to the seat's record; False if nothing was."""
        tail = seat.sitting.tail
        if tail is None:
            return False
        restarts, compactions = tail.restarts, seat.sitting.meter.compactions
        events = tail.poll()
        if tail.restarts != restarts:
            seat.begin_record(tail)
        if not events:
            return False
        now = self._in.clock.steady()
        seat.read(events, now, self._ahead(seat))
        if seat.sitting.meter.compactions > compactions and not seat.sitting.catching_up:
            self._compacted(seat)
        if tail.behind:
            self._wake.set()
        else:
            seat.sitting.catching_up = False
        return True

    # The CLI's own notes, and the silence of a session that does not start

    async def note(self) -> None:
        """Look at the notes of living processes, for ever."""
        while True:
            for seat in self._seats():
                if seat.alive:
                    await self._safely(seat, self._note(seat))
            await self._in.clock.sleep(NOTES)

    async def _note(self, seat: Seat) -> None:
        assert seat.process is not None
        before = seat.sitting.conduct.turn, seat.trust_asked
        presence = seat.runtime.presence(seat.process.pid, self._sessions.environment(seat))
        if presence is not None and presence.session_id in {None, seat.record.session}:
            turn = _TURNS[presence.activity]
            at = self._dated(seat, presence.updated)
            stood = self._in.clock.steady() - at
            seat.sitting.conduct.noted(turn, presence.waiting_for, at, stood=stood)
        if not seat.sitting.quiet_since_start:
            seat.trust_asked = None
        elif seat.runtime.has_readings:
            await self._look_at_silence(seat)
        if before != (seat.sitting.conduct.turn, seat.trust_asked):
            await self._consider(seat)

    async def _look_at_silence(self, seat: Seat) -> None:
        """A session that says nothing may show a dialog, which no hook tells of.

        At once where the CLI notes that one is open: before anything was said it is no tool's.
        """
        began, asks = seat.sitting.began_at, seat.sitting.conduct.turn is Turn.DIALOG
        early = began is not None and self._in.clock.monotonic() - began < SILENT_START
        if (early and not asks) or seat.record.pane is None:
            return
        with contextlib.suppress(CockpitError):
            screen = await self._in.panes.capture(seat.record.pane)
            seat.trust_asked = seat.runtime.first_dialog(screen)

    async def _safely(self, seat: Seat, work: Awaitable[None]) -> None:
        """One agent's trouble is told on its row and in the log; the others are watched on."""
        try:
            await work
            if seat.trouble is not None:
                seat.trouble = None
        except CockpitError as refused:
            seat.trouble = str(refused)
        except Exception as bug:  # noqa: BLE001 - the one place around one agent's watching
            _log.exception("watching %s failed", seat.name)
            seat.trouble = f"watching it failed: {bug!r}; see the log"

    def _dated(self, seat: Seat, stamp: float | None) -> float:
        """A time that somebody else wrote down by the wall clock, in steady seconds; or now."""
        now = self._in.clock.steady()
        return now if stamp is None else min(now, stamp + self._ahead(seat))

    def _ahead(self, seat: Seat) -> float:
        """By how much steady time is ahead of the wall clock; a jump changes it."""
        seat.ahead = self._in.clock.steady() - self._in.clock.now().timestamp()
        return seat.ahead
