"""Build the history of an agent's context over all sessions of its job.

The data of the current session is already in memory. Earlier sessions are read from their
transcripts on request, and cached until the transcript changes. Nothing is stored on disk.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from cockpit.adapters.files.foreign_files import stamp
from cockpit.config.thresholds import thresholds
from cockpit.core import bands
from cockpit.core.capabilities import limits
from cockpit.core.compaction_point import SeenPoint, compaction_point
from cockpit.core.course import Point, thinned
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.gauge import Gauge
from cockpit.core.meter import Meter
from cockpit.core.reading import Window
from cockpit.ports.records import SessionRecord
from cockpit.ports.runtimes import Runtime
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.session_runtime import runtime_of
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.history.past_records import LARGEST, PastRecords
from cockpit.wire.course import Course, CoursePoint, Stretch
from cockpit.wire.status import MarksStatus

MOST = 512
"""Maximum points (token counts) of one session in a context history."""
MOST_TOGETHER = 2048
"""Maximum points of all sessions together in a context history. Exceeded if there are many
sessions, because each session may have 32 points."""
REMEMBERED = 64
"""Maximum number of cached sessions."""
NOT_READ = "No context data: cockpit reads no transcript of this runtime."
NOT_YET = "No token counts yet."
REMOVED = "The transcript was removed."
EMPTY = "The transcript has no token counts."


@dataclass(frozen=True, slots=True)
class _Past:
    """The data that the context history needs from one transcript."""

    stamp: tuple[int, int]
    """Size and modification time of the file."""
    points: tuple[Point, ...] = ()
    model: str | None = None
    peak: int = 0
    unknown: str | None = None


class ContextHistory:
    """Reads and caches the token counts of sessions over time."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies
        self._records = PastRecords(dependencies.places.state)
        self._known: dict[str, _Past] = {}
        self._one_at_a_time = asyncio.Lock()

    async def of(self, agent: Agent) -> Course:
        """Return the context history of every session of the agent's job, in order."""
        sessions = self._dependencies.store.chain(agent.record.job) if agent.record.job else []
        most = max(32, min(MOST, MOST_TOGETHER // max(1, len(sessions))))
        return Course(
            agent=agent.name,
            stretches=[await self._stretch(agent, session, most) for session in sessions],
            limits=limits(agent.runtime.capabilities),
        )

    async def _stretch(self, agent: Agent, session: SessionRecord, most: int) -> Stretch:
        stretch = Stretch(session=session.id, number=session.number, state=session.state)
        runtime = runtime_of(self._dependencies.runtimes, agent, session)
        if not runtime.capabilities.readings:
            return stretch.model_copy(update={"unknown": NOT_READ})
        session_state = agent.session_state
        meter = session_state.reading.meter
        if session.id == agent.record.session and meter.series:
            window = session_state.gauge.window
            return stretch.model_copy(update=_read(agent, runtime, meter.series, window, most))
        past = await self._past(runtime, session)
        is_running = session.id == agent.record.session and agent.alive
        if is_running and past.unknown in (REMOVED, EMPTY):
            # The CLI creates its transcript with the first prompt.
            return stretch.model_copy(update={"unknown": NOT_YET})
        if past.unknown or not past.points:
            return stretch.model_copy(update={"unknown": past.unknown})
        is_usual = runtime.name == agent.settings.runtime
        override = agent.settings.context.override if is_usual else None
        gauge = Gauge(override=override, peak=past.peak)
        gauge.derive_window(runtime.window(past.model, agent.environment))
        window = session_state.gauge.window if past.model == meter.model else gauge.window
        return stretch.model_copy(update=_read(agent, runtime, past.points, window, most))

    async def _past(self, runtime: Runtime, session: SessionRecord) -> _Past:
        record = await asyncio.to_thread(self._records.path, session)
        if record is None:
            return _Past((0, 0), unknown=REMOVED)
        async with self._one_at_a_time:
            now = await asyncio.to_thread(stamp, record)
            known = self._known.get(session.id)
            if known is None or known.stamp != now:
                known = await asyncio.to_thread(self._count, runtime, record, now)
                self._known.pop(session.id, None)
                self._known[session.id] = known
                while len(self._known) > REMEMBERED:
                    del self._known[next(iter(self._known))]
        return known

    def _count(self, runtime: Runtime, record: Path, stamp: tuple[int, int]) -> _Past:
        """Read a whole transcript. Blocks."""
        if stamp[0] > LARGEST:
            return _Past(stamp, unknown="The transcript is too large to read.")
        meter = Meter()
        try:
            self._records.read(record, runtime.parse, meter.feed)
        except OSError as error:
            return _Past(stamp, unknown=f"Cannot read the transcript: {error.strerror}.")
        if not meter.series:
            return _Past(stamp, unknown=EMPTY)
        return _Past(stamp, meter.series, meter.model, meter.peak)


def _read(
    agent: Agent, runtime: Runtime, points: Sequence[Point], window: Window, most: int
) -> dict[str, object]:
    formula = runtime.compaction_rule(agent.environment).compacts_at(window.tokens)
    # The observed compactions are those of the agent's current CLI.
    is_current = runtime.name == agent.runtime.name
    seen = agent.session_state.compaction.seen_point if is_current else SeenPoint()
    compacts_at, known_by = compaction_point(formula, window.tokens, seen)
    marks = bands.marks(thresholds(agent.settings.context), window.tokens, compacts_at)
    return {
        "window": window.tokens,
        "compacts_at": compacts_at,
        "compacts_at_source": known_by,
        "marks": MarksStatus.of(marks),
        "points": [
            CoursePoint(
                point.call, point.tokens, point.kind, point.at.timestamp() if point.at else None
            )
            for point in thinned(points, most)
        ],
    }
