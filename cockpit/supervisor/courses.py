"""The course of an agent's context over every session of its job.

The session that is watched is counted already; the others are read from their records when
somebody asks, once for each state of the record. Nothing is written down: a supervisor that comes
back has it all again from the records.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cockpit.adapters.kept_records import KeptRecords
from cockpit.adapters.transcript_scan import read_all
from cockpit.config.thresholds import thresholds
from cockpit.core import bands
from cockpit.core.course import Point, thinned
from cockpit.core.gauge import Gauge
from cockpit.core.meter import Meter
from cockpit.core.reading import Window
from cockpit.ports.records import SessionRecord
from cockpit.ports.runtimes import Runtime
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.rows import marks_status
from cockpit.supervisor.seat import Seat
from cockpit.wire.course import Course, CoursePoint, Stretch
from cockpit.wire.status import MarksStatus

MOST = 512
"""Points of one session."""
MOST_TOGETHER = 2048
LARGEST = 512 * 1024 * 1024
"""Bytes of a record that is read only for its course: five seconds of work, once."""
REMEMBERED = 64
"""Sessions whose course is kept in memory."""


@dataclass(frozen=True, slots=True)
class _Past:
    """What a record came to."""

    stamp: tuple[int, int]
    points: tuple[Point, ...] = ()
    model: str | None = None
    peak: int = 0
    unknown: str | None = None


class Courses:
    """For one supervisor."""

    def __init__(self, instruments: Instruments) -> None:
        self._in = instruments
        self._kept = KeptRecords(instruments.places.state / "records")
        self._known: dict[str, _Past] = {}
        self._one_at_a_time = asyncio.Lock()

    async def of(self, seat: Seat) -> Course:
        """Every session of the seat's job, in order; empty before the first one."""
        sessions = self._in.store.chain(seat.record.job) if seat.record.job else []
        most = max(32, min(MOST, MOST_TOGETHER // max(1, len(sessions))))
        return Course(
            agent=seat.name,
            stretches=[await self._stretch(seat, session, most) for session in sessions],
        )

    async def _stretch(self, seat: Seat, session: SessionRecord, most: int) -> Stretch:
        told = Stretch(session=session.id, number=session.number, state=session.state)
        if not seat.runtime.has_readings:
            return told.model_copy(update={"unknown": "This runtime keeps no record."})
        sitting = seat.sitting
        if session.id == seat.record.session and sitting.meter.series:
            window = sitting.gauge.window
            return told.model_copy(update=_read(seat, sitting.meter.series, window, most))
        past = await self._past(seat.runtime, session)
        if past.unknown or not past.points:
            return told.model_copy(update={"unknown": past.unknown})
        gauge = Gauge(override=seat.settings.context.override, peak=past.peak)
        gauge.derive_window(seat.runtime.window(past.model, seat.environment))
        window = sitting.gauge.window if past.model == sitting.meter.model else gauge.window
        return told.model_copy(update=_read(seat, past.points, window, most))

    async def _past(self, runtime: Runtime, session: SessionRecord) -> _Past:
        record = self._record(session)
        if record is None:
            return _Past((0, 0), unknown="Its record is gone.")
        async with self._one_at_a_time:
            found = await asyncio.to_thread(record.stat)
            stamp = found.st_size, found.st_mtime_ns
            known = self._known.get(session.id)
            if known is None or known.stamp != stamp:
                known = await asyncio.to_thread(self._count, runtime, record, stamp)
                self._known.pop(session.id, None)
                self._known[session.id] = known
                while len(self._known) > REMEMBERED:
                    del self._known[next(iter(self._known))]
        return known

    def _record(self, session: SessionRecord) -> Path | None:
        """The CLI's own file, or else our copy of it."""
        transcript = Path(session.transcript) if session.transcript else None
        if transcript is not None and transcript.is_file():
            return transcript
        return self._kept.path(session.id)

    def _count(self, runtime: Runtime, record: Path, stamp: tuple[int, int]) -> _Past:
        """Blocks on the disk."""
        if stamp[0] > LARGEST:
            return _Past(stamp, unknown="Its record is too large to be read for this.")
        meter = Meter()
        try:
            if record.suffix == ".jsonl":
                read_all(record, runtime.parse, meter.feed)
            else:
                for line in self._kept.lines(record):
                    found = runtime.parse(line)
                    for event in found if isinstance(found, Sequence) else ():
                        meter.feed(event)
        except OSError as error:
            return _Past(stamp, unknown=f"Its record cannot be read: {error.strerror}.")
        if not meter.series:
            return _Past(stamp, unknown="Its record has no reading.")
        return _Past(stamp, meter.series, meter.model, meter.peak)


def _read(seat: Seat, points: Sequence[Point], window: Window, most: int) -> dict[str, object]:
    """The fields of a stretch that has readings."""
    compacts_at = seat.runtime.compacts_at(window.tokens, seat.environment)
    marks = bands.marks(thresholds(seat.settings.context), window.tokens, compacts_at)
    return {
        "window": window.tokens,
        "compacts_at": compacts_at,
        "marks": marks_status(marks) if marks else MarksStatus(),
        "points": [
            CoursePoint(each.call, each.tokens, each.kind, each.at.timestamp() if each.at else None)
            for each in thinned(points, most)
        ],
    }
