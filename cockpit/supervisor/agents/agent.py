"""One agent's agent: who sits in it, what they are doing, how full their context is.

Holds what is known and takes in what is told; it starts nothing, ends nothing, and decides
nothing. Everything here can be had again from the database, the transcript and the processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from cockpit.adapters.transcripts.tail import Tail
from cockpit.config.project import repository_root
from cockpit.config.schema import AgentSettings, ContextSettings
from cockpit.config.thresholds import thresholds
from cockpit.core import bands
from cockpit.core.activity import activity
from cockpit.core.bands import Band, Marks
from cockpit.core.collect import Collector
from cockpit.core.compaction_point import PointSource, compaction_point
from cockpit.core.gauge import Gauge
from cockpit.core.handoff.details import HandoffDetails
from cockpit.core.handoff.events import Turn
from cockpit.core.handoff.states import Handoff
from cockpit.core.ids import AgentName
from cockpit.core.meter import Meter
from cockpit.core.moments import CompactionOver, Moment, PromptTaken, TurnBroken
from cockpit.core.prompt_files import prompt_files
from cockpit.core.running_tools import RunningTools
from cockpit.core.session import (
    ApiFailed,
    AssistantReplied,
    Compacted,
    CostCounted,
    Identified,
    Interrupted,
    PromptFileTaken,
    SessionEvent,
    Skipped,
    ToolFinished,
    UserSaid,
)
from cockpit.ports.processes import ProcessId
from cockpit.ports.records import AgentRecord, HandoffRecord, JobRecord, SessionRecord
from cockpit.ports.runtimes import Report, Runtime
from cockpit.supervisor.agents.blocked import Blocked
from cockpit.supervisor.agents.session_state import SessionState

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


@dataclass(frozen=True, slots=True)
class Revived:
    """A handoff whose successor would not start."""

    at: float
    """When it ended, in steady seconds."""
    why: str


@dataclass(slots=True)
class Agent:
    """One agent, now."""

    record: AgentRecord
    settings: AgentSettings
    runtime: Runtime
    environment: Mapping[str, str] = field(default_factory=dict)
    job: JobRecord | None = None
    session: SessionRecord | None = None
    chain: list[SessionRecord] = field(default_factory=list)
    session_state: SessionState = field(default_factory=SessionState)
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
    hindrance: str | None = None
    """Why nothing can be written for it, with the remedy; see `disk_monitor.py`."""
    stop_unwritten: bool = False
    """The user stopped it, and a full disk did not take that; see `stopping.py`."""
    handoff_failed: str | None = None
    """Why the last handoff left nobody, until the user acts."""
    revived: Revived | None = None
    """That no new session started and the old one was reopened, until you send it a prompt."""
    loop_over: str | None = None
    """That its loop used up its rounds, with the next step."""
    unconsidered: bool = False
    """What is due was not found out, because something failed on the way."""
    blocked: Blocked | None = None
    """Why the handoff cannot go on for now; it is tried again."""
    waits: str | None = None
    """What holds a handoff back that is due by itself."""

    hooks_failed: dict[str, str] = field(default_factory=dict)
    """How hooks and deliveries went wrong the last time, each until it goes well."""
    opening: bool = False
    """A session is about to be started here, once the hooks before it have run."""
    starting: bool = False
    """A start is under way; its process may not be there yet."""
    preparing: str | None = None
    """How far the setup of its new worktree is, in words; the agent is started after it."""
    interrupted: str | None = None
    """How the machine, or the tmux server, ended its last session; None once another began."""
    lost: str | None = None
    """That its worktree is gone while it works there, and what to do."""
    deciding: bool = False
    """Hooks are deciding what becomes of the act mark: nothing begins by itself meanwhile."""
    given: str | None = None
    """A document that a hook has written for the handoff that is due."""
    hurried_by: str | None = None
    """The hook that wants the handoff that is due at once and without review."""
    aside_costs: dict[str, float] = field(default_factory=dict)
    """Session -> what copies of it cost that wrote its documents (the sdk writer)."""
    said_done: float | None = None
    """When somebody said for this session's agent that its job is done, in steady seconds."""
    notified: tuple[str, ...] = ()
    """Where the user is told of it: addresses, which may hold secrets."""

    @property
    def name(self) -> AgentName:
        return self.record.name

    @property
    def gave_up(self) -> str | None:
        """Why nobody was started again after an end, when the user has to look."""
        return self.record.gave_up

    @property
    def alive(self) -> bool:
        """A process of ours sits here, as far as is known."""
        return self.process is not None and self.exit is None

    def begin_sitting(self, tail: Tail | None) -> None:
        """Forget the last session's conduct and reading; a new one begins."""
        self.session_state = SessionState(
            gauge=Gauge(override=self.settings.context.override), tail=tail
        )
        self.exit = None
        # What a hook decided was about the session before.
        self.given = self.hurried_by = None
        self.said_done = None

    def begin_record(self, tail: Tail) -> None:
        """Read the record anew, from another place: what was read of it is forgotten."""
        self.session_state.tail = tail
        self.session_state.unreadable = None
        self.session_state.read_to = 0.0
        self.session_state.reply_at = None
        self.session_state.skipped = self.session_state.too_large = 0
        self.session_state.meter = Meter()
        self.session_state.collector = Collector()
        self.session_state.running = RunningTools()

    # Readings

    def read(self, events: Iterable[SessionEvent | Skipped], at: float, ahead: float = 0.0) -> None:
        """Take in new lines of the session's record, in order.

        `at` is when they were read, in steady seconds; `ahead` is by how much these are ahead of
        the wall clock, which dated the lines.
        """
        for event in events:
            if isinstance(event, Skipped):
                self._skip(event)
                continue
            self._feed_meter(event)
            self.session_state.collector.feed(event)
            self.session_state.running.feed(event)
            self._take(event, at, ahead)

    def _skip(self, event: Skipped) -> None:
        """Count a line that was not read; the reading is unknown if that was a newer one."""
        self.session_state.skipped += 1
        if event.reason in ("too-long", "too-many-values"):
            self.session_state.too_large += 1
        self.session_state.meter.feed(event)
        if event.reading:
            self.session_state.reading_lost = True
            self.session_state.gauge.lose()

    @property
    def catching_up(self) -> bool:
        """What was read of the record so far is its past; the rest is still to be read."""
        tail = self.session_state.tail
        return self.session_state.catching_up and tail is not None and tail.behind > 0

    def caught_up(self) -> None:
        """The record was read to its end: now its last reading is the session's."""
        if self.session_state.catching_up:
            self.session_state.catching_up = False
            if self.session_state.reply_at is not None:
                self._gauge_from_record(self.session_state.reply_at)

    def _feed_meter(self, event: SessionEvent) -> None:
        """Count the event; a reply after another is a request that went out uncompacted."""
        session_state, meter = self.session_state, self.session_state.meter
        calls, tokens = meter.api_calls, meter.tokens
        meter.feed(event)
        if isinstance(event, Compacted):
            session_state.last_compaction = event.trigger
        if session_state.catching_up:
            return
        if meter.api_calls > calls and tokens is not None:
            session_state.passed = max(tokens, session_state.passed or 0)
        elif isinstance(event, Compacted) and event.trigger == "auto":
            session_state.compacted_by_itself = tokens or event.pre_tokens

    def _take(self, event: SessionEvent, at: float, ahead: float) -> None:
        session_state = self.session_state
        when = self._dated(event, at, ahead)
        session_state.quiet_since_start = False
        match event:
            case AssistantReplied(sidechain=False):
                session_state.replied = True
                session_state.last_activity = when
                if session_state.catching_up:
                    session_state.conduct.broken = None
                self._note_reads(event)
                self._note_conduct(event, when)
                session_state.reply_at = when
                session_state.reading_lost = False
                if not self.catching_up:
                    self._gauge_from_record(when)
            case UserSaid(sidechain=False, compact_summary=False, text=text):
                note_bounded(session_state.heard, text[:HEARD])
                session_state.last_activity = when
                session_state.prompt_files_named.update(prompt_files(text))
                if not event.meta:
                    session_state.conduct.broken = (
                        None if session_state.catching_up else session_state.conduct.broken
                    )
                    session_state.conduct.spoke("", when)
                    note_bounded(session_state.pilot_prompts, (when, text[:HEARD]))
            case PromptFileTaken(path=path):
                session_state.prompt_files_named.discard(path)
                session_state.prompt_files_taken.add(path)
            case ToolFinished(sidechain=False):
                session_state.last_activity = when
            case Compacted():
                session_state.gauge.compacted(when)
            case ApiFailed(status=status, error=error, resets_at=resets) if (
                session_state.catching_up
            ):
                # Who watches hears it from a hook; who comes back finds it here only.
                kind = _BROKEN_BY.get(status or 0, "unknown")
                session_state.conduct.broken = TurnBroken(kind, error, resets)
            case Interrupted():
                session_state.conduct.interrupted(when)
            case CostCounted(total_usd=total):
                session_state.cost_usd = total
            case Identified():
                session_state.see_mode(event.permission_mode)
                if event.window:
                    session_state.gauge.report_window(event.window)
            case _:
                if text := getattr(event, "text", ""):
                    note_bounded(session_state.heard, text[:HEARD])

    def _dated(self, event: SessionEvent, at: float, ahead: float) -> float:
        """When it was made. A record is in order, whatever the clock did while it was written."""
        when = stamp(event, at, ahead)
        if getattr(event, "at", None) is not None:
            when = self.session_state.read_to = max(when, self.session_state.read_to + LATER)
        return when

    def _note_reads(self, reply: AssistantReplied) -> None:
        for tool in reply.tools:
            for key in ("file_path", "command"):
                value = tool.input.get(key)
                if isinstance(value, str) and len(self.session_state.read_paths) < 500:
                    self.session_state.read_paths.add(value)

    def _note_conduct(self, reply: AssistantReplied, at: float) -> None:
        """What hooks tell too, for the time in which nobody heard them."""
        if reply.tools:
            self.session_state.conduct.activity = activity(reply.tools[-1], str(self.directory))
        if reply.stop_reason == ENDS_TURN and reply.text:
            self.session_state.conduct.spoke(reply.text, at)

    def _gauge_from_record(self, at: float) -> None:
        meter = self.session_state.meter
        if meter.model and meter.model != self.session_state.model:
            self.session_state.model = meter.model
        self.session_state.gauge.derive_window(
            self.runtime.window(self.session_state.model, self.environment)
        )
        if meter.tokens is not None:
            self.session_state.gauge.tell(meter.tokens, "transcript", at)

    def hear(self, moment: Moment, at: float) -> None:
        """Take in what a hook told."""
        self.session_state.conduct.hear(moment, at)
        match moment:
            case CompactionOver():
                self.session_state.gauge.compacted(at)
            case PromptTaken(text=text) if not text.startswith(NOTIFIED):
                # A prompt that is queued while the agent works never becomes a user's record.
                note_bounded(self.session_state.pilot_prompts, (at, text[:HEARD]))
                note_bounded(self.session_state.heard, text[:HEARD])
            case _:
                pass

    def settle_background(self) -> None:
        """Let the record's background tasks be those that the CLI named when its turn ended.

        Only while the agent is idle: in a turn it may start others. Idempotent.
        """
        conduct = self.session_state.conduct
        if conduct.turn is Turn.IDLE and conduct.background_known:
            self.session_state.collector.only_running({task.id for task in conduct.background})

    def report(self, report: Report, at: float) -> None:
        """Take in a status line of this session."""
        session_state = self.session_state
        if report.window:
            session_state.gauge.report_window(report.window)
        if report.usage is not None and report.usage.context:
            session_state.gauge.tell(report.usage.context, "statusline", at)
        if report.cost_usd is not None:
            session_state.cost_usd = report.cost_usd
        if report.model:
            session_state.model = report.model
        session_state.version = report.version or session_state.version
        session_state.limit_resets = report.limit_resets or session_state.limit_resets

    @property
    def compaction_formula(self) -> int | None:
        """Tokens at which the CLI compacts by its formula; None where it does not."""
        if not self.runtime.has_readings:
            return None
        window = self.session_state.gauge.window.tokens
        return self.runtime.compacts_at(window, self.environment) if window else None

    @property
    def compaction_point(self) -> tuple[int | None, PointSource | None]:
        """Where the CLI compacts by itself, and how that is known."""
        window = self.session_state.gauge.window.tokens
        if not self.runtime.has_readings or not window:
            return None, None
        return compaction_point(self.compaction_formula, window, self.session_state.seen_point)

    @property
    def compacts_at(self) -> int | None:
        """Tokens at which the CLI compacts; None where it does not or cannot be told."""
        return self.compaction_point[0]

    @property
    def marks(self) -> Marks | None:
        """Where the bands begin, in tokens; None for a runtime without readings."""
        if not self.runtime.has_readings:
            return None
        window = self.session_state.gauge.window.tokens
        return bands.marks(thresholds(self.settings.context), window, self.compacts_at)

    def mark_by(self, context: ContextSettings) -> None:
        """Have the bands begin elsewhere from now on, in the session that runs too."""
        self.settings = self.settings.model_copy(update={"context": context})
        self.session_state.gauge.override = context.override
        # An idle agent gives no news, and may be past its new marks.
        self.unconsidered = True

    @property
    def band(self) -> Band:
        """How worried to be; by tool calls (R46) while no reading can be had."""
        tokens = self.session_state.gauge.tokens
        if self.catching_up:
            return Band.UNKNOWN
        if tokens is None:
            limit = self.settings.context.fallback_tool_calls
            return bands.band_from_tool_calls(self.tool_calls, limit)
        return bands.band(tokens, self.marks)

    @property
    def tool_calls(self) -> int:
        """Calls of tools in this session, by whichever witness saw more."""
        return max(self.session_state.meter.tool_calls, self.session_state.conduct.tools)

    @property
    def turns(self) -> int:
        """Turns of this session that ended, by whichever witness saw more."""
        return max(self.session_state.meter.turns, self.session_state.conduct.turns)

    @property
    def compactions(self) -> int:
        """Compactions of this session, by whichever witness saw more."""
        return max(self.session_state.meter.compactions, self.session_state.conduct.compactions)

    @property
    def cost_usd(self) -> float | None:
        """What the session has cost, as far as is known, what copies of it wrote included."""
        own, aside = self.own_cost_usd, self.aside_costs.get(self.record.session or "", 0.0)
        return own if not aside else round((own or 0.0) + aside, 6)

    def note_aside_cost(self, session: str, cost: float) -> None:
        """A copy of this session cost so much; kept with the handoff that it wrote for."""
        self.aside_costs[session] = self.aside_costs.get(session, 0.0) + cost
        if self.handoff_record is not None:
            total = self.details.writer_cost_usd + cost
            self.note(replace(self.details, writer_cost_usd=total))

    @property
    def own_cost_usd(self) -> float | None:
        """What the session itself has cost, as far as is known.

        A CLI that opens a session again may count from nothing; what it had cost is not less.
        """
        counted = (self.session_state.cost_usd, self.session.cost_usd if self.session else None)
        return max((cost for cost in counted if cost is not None), default=None)

    @property
    def must_read(self) -> str | None:
        """The document that this session was started to read; None if there was none."""
        return self.session.document if self.session else None

    def has_read(self, document: str) -> bool:
        """Whether a tool of this session was pointed at the document."""
        return any(document in path for path in self.session_state.read_paths)

    def heard_of(self, token: str) -> bool:
        """Whether a text with this token in it reached the model."""
        return any(token in text for text in self.session_state.heard)

    @property
    def details(self) -> HandoffDetails:
        """What is kept beside the state of the handoff that is under way; empty for none."""
        return self.handoff_record.details if self.handoff_record else HandoffDetails()

    def note(self, details: HandoffDetails) -> None:
        """Keep this beside the handoff's state; the caller saves it."""
        assert self.handoff_record is not None
        self.handoff_record = replace(self.handoff_record, details=details)

    def handoff_was_revived(self, at: float, why: str) -> None:
        """No new session started, and the old one was reopened: you have to know."""
        self.revived = Revived(at, why)

    def handoff_has_failed(self, why: str) -> None:
        """The last handoff left it to the user what becomes of the agent."""
        self.handoff_failed = f"the handoff failed: {why}"

    # Places

    @property
    def directory(self) -> Path:
        """Where the agent works: the same place in its worktree, if it has one."""
        if not self.record.worktree:
            return Path(self.record.directory)
        return within(self.record.worktree, self.record.directory)

    def change(self, **changes: object) -> AgentRecord:
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
