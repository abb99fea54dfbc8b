"""One agent's seat: who sits in it, what they are doing, how full their context is.

Holds what is known and takes in what is told; it starts nothing, ends nothing, and decides
nothing. Everything here can be had again from the database, the transcript and the processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from cockpit.adapters.transcripts import Tail
from cockpit.config.project import repository_root
from cockpit.config.schema import AgentSettings, ContextSettings
from cockpit.config.thresholds import thresholds
from cockpit.core import bands
from cockpit.core.activity import activity
from cockpit.core.bands import Band, Marks
from cockpit.core.collect import Collector
from cockpit.core.gauge import Gauge
from cockpit.core.handoff.states import Handoff
from cockpit.core.ids import AgentName
from cockpit.core.meter import Meter
from cockpit.core.moments import CompactionOver, Moment, PromptTaken, TurnBroken
from cockpit.core.running_tools import RunningTools
from cockpit.core.session import (
    ApiFailed,
    AssistantReplied,
    Compacted,
    CostCounted,
    Identified,
    Interrupted,
    SessionEvent,
    Skipped,
    ToolFinished,
    UserSaid,
)
from cockpit.ports.processes import ProcessId
from cockpit.ports.records import HandoffRecord, JobRecord, SeatRecord, SessionRecord
from cockpit.ports.runtimes import Report, Runtime
from cockpit.supervisor.sitting import Sitting
from cockpit.supervisor.stall import Stall

NOTIFIED = "<task-notification>"
"""How a prompt begins that the CLI gives itself when something in the background ended."""
ENDS_TURN = "end_turn"
"""The model's reason for stopping when it has nothing more to do."""
LATER = 1e-6
"""Seconds by which a line of a record is later than the one before, at least."""
_BROKEN_BY = {401: "authentication_failed", 404: "model_not_found", 429: "rate_limit"}
"""What a hook calls an answer of the API, by its status; another is `unknown`."""
HEARD = 4000
"""Characters kept of a prompt or an injected context; a request names its file well before."""


@dataclass(frozen=True, slots=True)
class Exit:
    """How an agent's process ended, as far as the terminal knows."""

    at: float
    status: int | None = None
    signal: int | None = None
    words: str = ""
    """The last lines of its pane."""
    told: str | None = None
    """What an earlier supervisor wrote down of it."""

    @property
    def abnormal(self) -> bool:
        """It ended with an error of its own, as far as is known."""
        return bool(self.signal) or self.status not in (None, 0)

    def __str__(self) -> str:
        if self.told:
            return self.told.rstrip(".")
        if self.signal:
            return f"ended by signal {self.signal}"
        return "ended, status unknown" if self.status is None else f"ended with {self.status}"


@dataclass(slots=True)
class Seat:
    """One agent, now."""

    record: SeatRecord
    settings: AgentSettings
    runtime: Runtime
    environment: Mapping[str, str] = field(default_factory=dict)
    job: JobRecord | None = None
    session: SessionRecord | None = None
    chain: list[SessionRecord] = field(default_factory=list)
    sitting: Sitting = field(default_factory=Sitting)
    process: ProcessId | None = None
    exit: Exit | None = None
    handoff: Handoff | None = None
    handoff_record: HandoffRecord | None = None
    ahead: float = 0.0
    """Seconds by which steady time was ahead of the wall clock at the last look: for showing."""
    handoffs: int = 0
    """Swaps of this job that were confirmed."""
    trust_asked: str | None = None
    """What the pane shows instead of starting: a trust or login dialog, in words."""
    trouble: str | None = None
    """A bug or failure in watching this one agent, told on its row only."""
    handoff_failed: str | None = None
    """Why the last handoff left nobody, until the pilot acts."""
    unconsidered: bool = False
    """What is due was not found out, because something failed on the way."""
    stall: Stall | None = None
    """Why the handoff cannot go on for now; it is tried again."""
    waits: str | None = None
    """What holds a handoff back that is due by itself."""

    hooks_failed: dict[str, str] = field(default_factory=dict)
    """How hooks and deliveries went wrong the last time, each until it goes well."""
    opening: bool = False
    """A session is about to be started here, once the hooks before it have run."""
    preparing: str | None = None
    """How far the setup of its new worktree is, in words; the agent is started after it."""
    lost: str | None = None
    """That its worktree is gone while it works there, and what to do."""
    deciding: bool = False
    """Hooks are deciding what becomes of the act mark: nothing begins by itself meanwhile."""
    given: str | None = None
    """A document that a hook has written for the handoff that is due."""
    notified: tuple[str, ...] = ()
    """Where the pilot is told of it: addresses, which may hold secrets."""

    @property
    def name(self) -> AgentName:
        return self.record.name

    @property
    def gave_up(self) -> str | None:
        """Why nobody was started again after an end, when the pilot has to look."""
        return self.record.gave_up

    @property
    def alive(self) -> bool:
        """A process of ours sits here, as far as is known."""
        return self.process is not None and self.exit is None

    def begin_sitting(self, tail: Tail | None) -> None:
        """Forget the last session's conduct and reading; a new one begins."""
        self.sitting = Sitting(gauge=Gauge(override=self.settings.context.override), tail=tail)
        self.exit = None

    def begin_record(self, tail: Tail) -> None:
        """Read the record anew, from another place: what was read of it is forgotten."""
        self.sitting.tail = tail
        self.sitting.read_to = 0.0
        self.sitting.meter = Meter()
        self.sitting.collector = Collector()
        self.sitting.running = RunningTools()

    # Readings

    def read(self, events: Iterable[SessionEvent | Skipped], at: float, ahead: float = 0.0) -> None:
        """Take in new lines of the session's record, in order.

        `at` is when they were read, in steady seconds; `ahead` is by how much these are ahead of
        the wall clock, which dated the lines.
        """
        for event in events:
            if isinstance(event, Skipped):
                self.sitting.skipped += 1
                continue
            self.sitting.meter.feed(event)
            self.sitting.collector.feed(event)
            self.sitting.running.feed(event)
            self._take(event, at, ahead)

    def _take(self, event: SessionEvent, at: float, ahead: float) -> None:
        sitting = self.sitting
        when = self._dated(event, at, ahead)
        sitting.quiet_since_start = False
        match event:
            case AssistantReplied(sidechain=False):
                sitting.replied = True
                sitting.last_activity = when
                if sitting.catching_up:
                    sitting.conduct.broken = None
                self._note_reads(event)
                self._note_conduct(event, when)
                self._gauge_from_record(when)
            case UserSaid(sidechain=False, compact_summary=False, text=text):
                note_bounded(sitting.heard, text[:HEARD])
                sitting.last_activity = when
                if not event.meta:
                    sitting.conduct.broken = None if sitting.catching_up else sitting.conduct.broken
                    sitting.conduct.spoke("", when)
                    note_bounded(sitting.pilot_prompts, (when, text[:HEARD]))
            case ToolFinished(sidechain=False):
                sitting.last_activity = when
            case Compacted():
                sitting.gauge.compacted(when)
            case ApiFailed(status=status, error=error, resets_at=resets) if sitting.catching_up:
                # Who watches hears it from a hook; who comes back finds it here only.
                kind = _BROKEN_BY.get(status or 0, "unknown")
                sitting.conduct.broken = TurnBroken(kind, error, resets)
            case Interrupted():
                sitting.conduct.interrupted(when)
            case CostCounted(total_usd=total):
                sitting.cost_usd = total
            case Identified():
                sitting.permission_mode = event.permission_mode or sitting.permission_mode
                if event.window:
                    sitting.gauge.report_window(event.window)
            case _:
                if text := getattr(event, "text", ""):
                    note_bounded(sitting.heard, text[:HEARD])

    def _dated(self, event: SessionEvent, at: float, ahead: float) -> float:
        """When it was made. A record is in order, whatever the clock did while it was written."""
        when = stamp(event, at, ahead)
        if getattr(event, "at", None) is not None:
            when = self.sitting.read_to = max(when, self.sitting.read_to + LATER)
        return when

    def _note_reads(self, reply: AssistantReplied) -> None:
        for tool in reply.tools:
            for key in ("file_path", "command"):
                value = tool.input.get(key)
                if isinstance(value, str) and len(self.sitting.read_paths) < 500:
                    self.sitting.read_paths.add(value)

    def _note_conduct(self, reply: AssistantReplied, at: float) -> None:
        """What hooks tell too, for the time in which nobody heard them."""
        if reply.tools:
            self.sitting.conduct.activity = activity(reply.tools[-1], str(self.directory))
        if reply.stop_reason == ENDS_TURN and reply.text:
            self.sitting.conduct.spoke(reply.text, at)

    def _gauge_from_record(self, at: float) -> None:
        meter = self.sitting.meter
        if meter.model and meter.model != self.sitting.model:
            self.sitting.model = meter.model
        self.sitting.gauge.derive_window(self.runtime.window(self.sitting.model, self.environment))
        if meter.tokens is not None:
            self.sitting.gauge.tell(meter.tokens, "transcript", at)

    def hear(self, moment: Moment, at: float) -> None:
        """Take in what a hook told."""
        self.sitting.conduct.hear(moment, at)
        match moment:
            case CompactionOver():
                self.sitting.gauge.compacted(at)
            case PromptTaken(text=text) if not text.startswith(NOTIFIED):
                # A prompt that is queued while the agent works never becomes a user's record.
                note_bounded(self.sitting.pilot_prompts, (at, text[:HEARD]))
                note_bounded(self.sitting.heard, text[:HEARD])
            case _:
                pass

    def report(self, report: Report, at: float) -> None:
        """Take in a status line of this session."""
        sitting = self.sitting
        if report.window:
            sitting.gauge.report_window(report.window)
        if report.usage is not None and report.usage.context:
            sitting.gauge.tell(report.usage.context, "statusline", at)
        if report.cost_usd is not None:
            sitting.cost_usd = report.cost_usd
        if report.model:
            sitting.model = report.model
        sitting.limit_resets = report.limit_resets or sitting.limit_resets

    @property
    def compacts_at(self) -> int | None:
        """Tokens at which the CLI compacts; None where it does not or cannot be told."""
        if not self.runtime.has_readings:
            return None
        window = self.sitting.gauge.window.tokens
        return self.runtime.compacts_at(window, self.environment) if window else None

    @property
    def marks(self) -> Marks | None:
        """Where the bands begin, in tokens; None for a runtime without readings."""
        if not self.runtime.has_readings:
            return None
        window = self.sitting.gauge.window.tokens
        return bands.marks(thresholds(self.settings.context), window, self.compacts_at)

    def mark_by(self, context: ContextSettings) -> None:
        """Have the bands begin elsewhere from now on, in the session that runs too."""
        self.settings = self.settings.model_copy(update={"context": context})
        self.sitting.gauge.override = context.override

    @property
    def band(self) -> Band:
        """How worried to be; by tool calls (R46) while no reading can be had."""
        tokens = self.sitting.gauge.tokens
        if tokens is None:
            limit = self.settings.context.fallback_tool_calls
            return bands.band_from_tool_calls(self.tool_calls, limit)
        return bands.band(tokens, self.marks)

    @property
    def tool_calls(self) -> int:
        """Calls of tools in this session, by whichever witness saw more."""
        return max(self.sitting.meter.tool_calls, self.sitting.conduct.tools)

    @property
    def turns(self) -> int:
        """Turns of this session that ended, by whichever witness saw more."""
        return max(self.sitting.meter.turns, self.sitting.conduct.turns)

    @property
    def compactions(self) -> int:
        """Compactions of this session, by whichever witness saw more."""
        return max(self.sitting.meter.compactions, self.sitting.conduct.compactions)

    @property
    def cost_usd(self) -> float | None:
        """What the session has cost, as far as is known.

        A CLI that opens a session again may count from nothing; what it had cost is not less.
        """
        counted = (self.sitting.cost_usd, self.session.cost_usd if self.session else None)
        return max((cost for cost in counted if cost is not None), default=None)

    @property
    def must_read(self) -> str | None:
        """The document that this session was started to read; None if there was none."""
        return self.session.document if self.session else None

    def has_read(self, document: str) -> bool:
        """Whether a tool of this session was pointed at the document."""
        return any(document in path for path in self.sitting.read_paths)

    def heard_of(self, token: str) -> bool:
        """Whether a text with this token in it reached the model."""
        return any(token in text for text in self.sitting.heard)

    def note_detail(self, **details: object) -> None:
        """Keep something beside the handoff's state; the caller saves it."""
        assert self.handoff_record is not None
        merged = {**self.handoff_record.details, **details}
        self.handoff_record = replace(self.handoff_record, details=merged)

    def handoff_has_failed(self, why: str) -> None:
        """The last handoff left it to the pilot what becomes of the seat."""
        self.handoff_failed = f"the handoff failed: {why}"

    # Places

    @property
    def directory(self) -> Path:
        """Where the agent works: the same place in its worktree, if it has one."""
        if not self.record.worktree:
            return Path(self.record.directory)
        return within(self.record.worktree, self.record.directory)

    def change(self, **changes: object) -> SeatRecord:
        """Change the record in memory; the caller saves it."""
        self.record = replace(self.record, **changes)  # type: ignore[arg-type]
        return self.record


@cache
def within(worktree: str, directory: str) -> Path:
    """The folder of a worktree that stands for a directory of the checkout it was made from."""
    root = repository_root(Path(directory))
    if root is None or root == Path(worktree):
        return Path(worktree)
    return Path(worktree) / Path(directory).relative_to(root)


def stamp(event: SessionEvent, otherwise: float, ahead: float = 0.0) -> float:
    """When the event was made, in steady seconds, never later than when it was read."""
    at = getattr(event, "at", None)
    return min(at.timestamp() + ahead, otherwise) if at is not None else otherwise


def note_bounded(notes: list[Any], item: Any, most: int = 40) -> None:
    """Add to a list that keeps only its newest items."""
    notes.append(item)
    del notes[:-most]
