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

from cockpit.adapters.files.foreign_files import is_file
from cockpit.adapters.transcripts.copies import KeptRecords
from cockpit.adapters.transcripts.lines import parse_bounded
from cockpit.adapters.transcripts.scan import read_all
from cockpit.config.thresholds import thresholds
from cockpit.core import bands
from cockpit.core.compaction_point import compaction_point
from cockpit.core.course import Point, thinned
from cockpit.core.gauge import Gauge
from cockpit.core.meter import Meter
from cockpit.core.reading import Window
from cockpit.core.session import Skipped
from cockpit.ports.records import SessionRecord
from cockpit.ports.runtimes import Runtime
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.view.rows import marks_status
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


class ContextHistory:
    """For one supervisor."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies
        self._kept = KeptRecords(dependencies.places.state / "records")
        self._known: dict[str, _Past] = {}
        self._one_at_a_time = asyncio.Lock()

    async def of(self, agent: Agent) -> Course:
        """Every session of the agent's job, in order; empty before the first one."""
        sessions = self._dependencies.store.chain(agent.record.job) if agent.record.job else []
        most = max(32, min(MOST, MOST_TOGETHER // max(1, len(sessions))))
        return Course(
            agent=agent.name,
            stretches=[await self._stretch(agent, session, most) for session in sessions],
        )

    async def _stretch(self, agent: Agent, session: SessionRecord, most: int) -> Stretch:
        told = Stretch(session=session.id, number=session.number, state=session.state)
        if not agent.runtime.has_readings:
            return told.model_copy(update={"unknown": "No context data for plain commands."})
        session_state = agent.session_state
        meter = session_state.reading.meter
        if session.id == agent.record.session and meter.series:
            window = session_state.gauge.window
            return told.model_copy(update=_read(agent, meter.series, window, most))
        past = await self._past(agent.runtime, session)
        if past.unknown or not past.points:
            return told.model_copy(update={"unknown": past.unknown})
        gauge = Gauge(override=agent.settings.context.override, peak=past.peak)
        gauge.derive_window(agent.runtime.window(past.model, agent.environment))
        window = session_state.gauge.window if past.model == meter.model else gauge.window
        return told.model_copy(update=_read(agent, past.points, window, most))

    async def _past(self, runtime: Runtime, session: SessionRecord) -> _Past:
        record = await asyncio.to_thread(self._record, session)
        if record is None:
            return _Past((0, 0), unknown="Its record was removed.")
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
        if transcript is not None and is_file(transcript):
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
                    found = parse_bounded(runtime.parse, line)
                    for event in (found,) if isinstance(found, Skipped) else found:
                        meter.feed(event)
        except OSError as error:
            return _Past(stamp, unknown=f"Its record cannot be read: {error.strerror}.")
        if not meter.series:
            return _Past(stamp, unknown="Its record has no reading.")
        return _Past(stamp, meter.series, meter.model, meter.peak)


def _read(agent: Agent, points: Sequence[Point], window: Window, most: int) -> dict[str, object]:
    """The fields of a stretch that has readings."""
    formula = agent.runtime.compacts_at(window.tokens, agent.environment)
    seen = agent.session_state.compaction.seen_point
    compacts_at, known_by = compaction_point(formula, window.tokens, seen)
    marks = bands.marks(thresholds(agent.settings.context), window.tokens, compacts_at)
    return {
        "window": window.tokens,
        "compacts_at": compacts_at,
        "compacts_at_source": known_by,
        "marks": marks_status(marks) if marks else MarksStatus(),
        "points": [
            CoursePoint(each.call, each.tokens, each.kind, each.at.timestamp() if each.at else None)
            for each in thinned(points, most)
        ],
    }
