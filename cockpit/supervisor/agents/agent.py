"""One agent: its settings, its session, its process, and the handoff that it is in.

Holds what is known and takes in what is told; it starts nothing, ends nothing, and decides
nothing. Everything here can be had again from the database, the transcript and the processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from cockpit.adapters.transcripts.tail import Tail
from cockpit.config.project import repository_root
from cockpit.config.schema import AgentSettings, ContextSettings
from cockpit.config.thresholds import thresholds
from cockpit.core import bands
from cockpit.core.bands import Band, Marks
from cockpit.core.compaction_point import PointSource, compaction_point
from cockpit.core.gauge import Gauge
from cockpit.core.handoff.states import Handoff
from cockpit.core.ids import AgentName
from cockpit.core.session import (
    SessionEvent,
    Skipped,
)
from cockpit.ports.processes import ProcessId
from cockpit.ports.records import AgentRecord, HandoffRecord, JobRecord, SessionRecord
from cockpit.ports.runtimes import Runtime
from cockpit.supervisor.agents.handoff_progress import HandoffProgress
from cockpit.supervisor.agents.session_state import SessionState
from cockpit.supervisor.agents.start_progress import StartProgress
from cockpit.supervisor.agents.transcript_reading import TranscriptReading
from cockpit.supervisor.agents.troubles import Troubles


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
class Agent:
    """One agent, now."""

    record: AgentRecord
    settings: AgentSettings
    runtime: Runtime
    environment: Mapping[str, str] = field(default_factory=dict)
    job: JobRecord | None = None
    session: SessionRecord | None = None
    chain: list[SessionRecord] = field(default_factory=list)
    session_state: SessionState = field(init=False)
    process: ProcessId | None = None
    exit: Exit | None = None
    progress: HandoffProgress = field(default_factory=HandoffProgress)
    start: StartProgress = field(default_factory=StartProgress)
    troubles: Troubles = field(default_factory=Troubles)
    ahead: float = 0.0
    """Seconds by which steady time was ahead of the wall clock at the last look: for showing."""
    handoffs: int = 0
    """Swaps of this job that were confirmed."""
    unconsidered: bool = False
    """What is due was not found out, because something failed on the way."""
    aside_costs: dict[str, float] = field(default_factory=dict)
    """Session -> what copies of it cost that wrote its documents (the sdk writer)."""
    said_done: float | None = None
    """When somebody said for this session's agent that its job is done, in steady seconds."""
    notified: tuple[str, ...] = ()
    """Where the user is told of it: addresses, which may hold secrets."""

    def __post_init__(self) -> None:
        self.session_state = self._new_session(None)

    @property
    def name(self) -> AgentName:
        return self.record.name

    @property
    def handoff(self) -> Handoff | None:
        """The handoff that is under way."""
        return self.progress.handoff

    @property
    def handoff_record(self) -> HandoffRecord | None:
        """The handoff that is under way, as it is on the disk."""
        return self.progress.record

    @property
    def gave_up(self) -> str | None:
        """Why nobody was started again after an end, when the user has to look."""
        return self.record.gave_up

    @property
    def alive(self) -> bool:
        """A process of ours sits here, as far as is known."""
        return self.process is not None and self.exit is None

    def begin_session(self, tail: Tail | None) -> None:
        """Forget the last session's conduct and reading; a new one begins."""
        self.session_state = self._new_session(tail)
        self.exit = None
        self.progress.forget_decision()
        self.said_done = None

    @property
    def in_use(self) -> bool:
        """A process lives here, is being started, or is being exchanged for another one."""
        under_way = self.start.under_way or self.start.hooks_run
        return self.alive or under_way or self.handoff is not None

    def _new_session(self, tail: Tail | None) -> SessionState:
        return SessionState(
            directory=str(self.directory),
            window_of=lambda model: self.runtime.window(model, self.environment),
            gauge=Gauge(override=self.settings.context.override),
            reading=TranscriptReading(tail=tail),
        )

    def begin_transcript(self, tail: Tail) -> None:
        """Read the record anew, from another place: what was read of it is forgotten."""
        self.session_state.reading = TranscriptReading(tail=tail)

    # Readings

    def read(self, events: Iterable[SessionEvent | Skipped], at: float, ahead: float = 0.0) -> None:
        """Take in new lines of the session's transcript; see `SessionState.read`."""
        self.session_state.read(events, at, ahead)

    @property
    def catching_up(self) -> bool:
        """See `SessionState.behind`."""
        return self.session_state.behind

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
        seen = self.session_state.compaction.seen_point
        return compaction_point(self.compaction_formula, window, seen)

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
        return max(self.session_state.reading.meter.tool_calls, self.session_state.conduct.tools)

    @property
    def turns(self) -> int:
        """Turns of this session that ended, by whichever witness saw more."""
        return max(self.session_state.reading.meter.turns, self.session_state.conduct.turns)

    @property
    def compactions(self) -> int:
        """Compactions of this session, by whichever witness saw more."""
        state = self.session_state
        return max(state.reading.meter.compactions, state.conduct.compactions)

    @property
    def cost_usd(self) -> float | None:
        """What the session has cost, as far as is known, what copies of it wrote included."""
        own, aside = self.own_cost_usd, self.aside_costs.get(self.record.session or "", 0.0)
        return own if not aside else round((own or 0.0) + aside, 6)

    def note_aside_cost(self, session: str, cost: float) -> None:
        """A copy of this session cost so much; kept with the handoff that it wrote for."""
        self.aside_costs[session] = self.aside_costs.get(session, 0.0) + cost
        if self.handoff_record is not None:
            details = self.progress.details
            total = details.writer_cost_usd + cost
            self.progress.note(replace(details, writer_cost_usd=total))

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
