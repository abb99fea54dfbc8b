"""One agent: its settings, its session, its process, and its handoff.

Contains state only: nothing here starts, ends or decides anything. The state can be restored
from the database, the transcript and the processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from enum import StrEnum
from pathlib import Path

from cockpit.adapters.store.store import Store
from cockpit.adapters.transcripts.tail import Tail
from cockpit.config.schema import AgentSettings, ContextSettings
from cockpit.config.thresholds import thresholds
from cockpit.core import bands
from cockpit.core.bands import Band, Marks
from cockpit.core.compaction_point import PointSource, compaction_point
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.gauge import Gauge
from cockpit.core.handoff.states import Handoff
from cockpit.core.ids import AgentName, JobId, SessionId
from cockpit.core.reading import Confidence
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


class LostPane(StrEnum):
    """Why an agent's pane is missing."""

    CLOSED = "closed"
    SERVER_ENDED = "server_ended"
    """The tmux server exited, and closed all its panes."""


LOST_PANE = {
    LostPane.CLOSED: "The agent's pane was closed.",
    LostPane.SERVER_ENDED: "The tmux server exited, which closed all panes.",
}


@dataclass(frozen=True, slots=True)
class PaneLoss:
    """A missing pane of an agent: why the pane is missing, and when cockpit noticed."""

    why: LostPane
    at: float
    """When cockpit noticed the missing pane, in monotonic seconds."""


@dataclass(frozen=True, slots=True)
class Exit:
    """The end of an agent's process. Unknown values are None or empty."""

    at: float
    """When the process ended, in unix seconds."""
    status: int | None = None
    """The exit status; None if there is none, or if tmux does not report it."""
    signal: int | None = None
    last_lines: str = ""
    """The last lines of the agent's pane."""
    lost: LostPane | None = None
    """Why the pane's last output is missing; None if nothing is missing, or if the reason is
    unknown."""
    recorded: str | None = None
    """How the process ended, as an earlier supervisor stored it; else None."""
    pending: bool = False
    """Whether cockpit is still finding out how the process ended. Clients act on the exit status,
    so the row shows the end only when the status is known."""

    @property
    def abnormal(self) -> bool:
        """Whether the process ended by a signal or with a non-zero exit status."""
        return bool(self.signal) or self.status not in (None, 0)

    @property
    def description(self) -> str:
        """How the process ended, then the last lines of the pane, or why they are missing."""
        more = LOST_PANE[self.lost] if self.lost is not None else self.last_lines
        return f"{self}. {more}".strip()

    def __str__(self) -> str:
        if self.recorded:
            return self.recorded.rstrip(".")
        if self.signal:
            return f"ended by signal {self.signal}"
        if self.status is None:
            return "ended" if self.pending else "ended, status unknown"
        return f"ended with exit code {self.status}"


@dataclass(frozen=True, slots=True)
class LastRequest:
    """The last request that answered an agent's question or changed the agent's work."""

    verb: str
    by: str
    """The sender of the request: a user such as `ana@laptop`, an agent or a hook."""
    at: float
    """When the request was completed, in seconds of `Clock.steady`."""
    question: str | None = None
    """The id of the handoff, or the identity of the dialog, that the request answered. If the
    request answered no question, the id of the handoff then in progress, or None."""
    handoff: str | None = None
    """The id of the handoff that the request answered, or that was then in progress; else None."""


@dataclass(slots=True)
class Agent:
    """The current state of one agent."""

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
    lost_pane: PaneLoss | None = None
    """The last loss of the agent's pane that cockpit noticed; see `exit_reason.lost_panes`."""
    progress: HandoffProgress = field(default_factory=HandoffProgress)
    start: StartProgress = field(default_factory=StartProgress)
    troubles: Troubles = field(default_factory=Troubles)
    clock_offset: float = 0.0
    """`Clock.steady` minus the wall clock in seconds, as last measured; converts times for
    display."""
    handoffs: int = 0
    """Number of confirmed handoffs of this job."""
    must_reconsider: bool = False
    """Whether the agent changed and `Reactions` has not considered the change yet."""
    copy_costs: dict[str, float] = field(default_factory=dict)
    """By session id, the cost in US dollars of the copies that wrote the session's handoff
    documents."""
    marked_done_at: float | None = None
    """When `cockpit done` marked this session's job as done, in seconds of `Clock.steady`."""
    last_request: LastRequest | None = None
    """The last request that answered this agent's question or changed its work. Kept in memory
    only; None if there was none since the supervisor started."""
    notified: tuple[str, ...] = ()
    """Notification URLs, current and earlier. They may contain secrets."""

    def __post_init__(self) -> None:
        self.session_state = self._new_session(None)

    @property
    def name(self) -> AgentName:
        return self.record.name

    @property
    def handoff(self) -> Handoff | None:
        """The handoff that is in progress; None if there is none."""
        return self.progress.handoff

    @property
    def handoff_record(self) -> HandoffRecord | None:
        """The stored record of the handoff that is in progress; None if there is none."""
        return self.progress.record

    @property
    def gave_up(self) -> str | None:
        """Why the user has to act after a failure, such as a failed start; else None."""
        return self.record.gave_up

    @property
    def alive(self) -> bool:
        """Whether the agent's process is running, as far as cockpit knows."""
        return self.process is not None and self.exit is None

    @property
    def has_readings(self) -> bool:
        """Whether cockpit can read the CLI's transcript, and so knows the context usage."""
        return bool(self.runtime.capabilities.readings)

    @property
    def cli_session(self) -> SessionId | None:
        """The id that the CLI uses for the agent's session; None until the id is known."""
        if self.session is not None and self.session.cli_id is not None:
            return self.session.cli_id
        return None if self.runtime.capabilities.chooses_ids else self.record.session

    @property
    def runs_configured_cli(self) -> bool:
        """Whether the session's CLI is the configured one. A handoff can change a job's CLI."""
        return self.runtime.name == self.settings.runtime

    @property
    def window_override(self) -> int | None:
        """The `window` setting in tokens; None if it is "auto", or if the session does not run the
        configured CLI."""
        return self.settings.context.override if self.runs_configured_cli else None

    def begin_session(self, tail: Tail | None, opened_at: float | None = None) -> None:
        """Replace the state of the previous session with the state of a new session.

        `opened_at`: when the session's process was started, in Unix seconds; None if unknown.
        """
        self.session_state = self._new_session(tail)
        self.session_state.opened_at = opened_at
        self.session_state.compaction_rule = self.runtime.compaction_rule(self.environment)
        self.exit = None
        self.troubles.begin_session()
        self.progress.forget_decision()
        self.marked_done_at = None

    @property
    def in_use(self) -> bool:
        under_way = self.start.under_way or self.start.hooks_run
        return self.alive or under_way or self.handoff is not None

    def _new_session(self, tail: Tail | None) -> SessionState:
        return SessionState(
            directory=str(self.directory),
            window_of=lambda model: self.runtime.window(model, self.environment),
            compacts_before_prompts=self.runtime.capabilities.compacts_before_prompts,
            gauge=Gauge(override=self.window_override),
            reading=TranscriptReading(tail=tail),
        )

    def begin_transcript(self, tail: Tail) -> None:
        """Read another transcript file, and discard the data of the previous file."""
        self.session_state.reading = TranscriptReading(tail=tail)

    # Readings

    def read(
        self, events: Iterable[SessionEvent | Skipped], at: float, clock_offset: float = 0.0
    ) -> None:
        """Process new lines of the session's transcript; see `SessionState.read`."""
        self.session_state.read(events, at, clock_offset)

    @property
    def catching_up(self) -> bool:
        """Whether lines that the transcript had when it was opened are still unread."""
        return self.session_state.behind

    @property
    def compaction_formula(self) -> int | None:
        """Token count at which the CLI compacts, from the transcript or else the CLI's formula.

        None if the CLI never compacts, or if neither source is known.
        """
        if not self.has_readings:
            return None
        window = self.session_state.gauge.window.tokens
        if self.session_state.compacts_at is not None:
            return self.session_state.compacts_at
        rule = self.session_state.compaction_rule
        return rule.compacts_at(window) if window and rule else None

    @property
    def compaction_point(self) -> tuple[int | None, PointSource | None]:
        """Token count at which the CLI compacts automatically, and the source of that number.

        Both are None if the count is unknown or the CLI never compacts.
        """
        window = self.session_state.gauge.window.tokens
        if not self.has_readings or not window:
            return None, None
        seen = self.session_state.compaction.seen_point
        return compaction_point(self.compaction_formula, window, seen)

    @property
    def compacts_at(self) -> int | None:
        """Token count at which the CLI compacts automatically; None if unknown or never."""
        return self.compaction_point[0]

    @property
    def shown_window(self) -> int | None:
        """The context window in tokens; None if it is only assumed and the model is unknown."""
        window = self.session_state.gauge.window
        is_guess = window.confidence is Confidence.ASSUMED and not self.session_state.model
        return None if is_guess else window.tokens

    @property
    def marks(self) -> Marks | None:
        """Thresholds of the bands, in tokens; None for a runtime without token counts."""
        if not self.has_readings:
            return None
        window = self.session_state.gauge.window.tokens
        return bands.marks(thresholds(self.settings.context), window, self.compacts_at)

    def set_context(self, context: ContextSettings) -> None:
        """Apply new context settings to the agent, including its running session."""
        self.settings = self.settings.model_copy(update={"context": context})
        self.session_state.gauge.override = self.window_override
        # An idle agent reports nothing new, but may be above its new thresholds.
        self.must_reconsider = True

    @property
    def band(self) -> Band:
        """The context's current band; `UNKNOWN` until the transcript's existing lines are read.

        Without a token count, the number of tool calls decides.
        """
        tokens = self.session_state.gauge.tokens
        if self.catching_up:
            return Band.UNKNOWN
        if tokens is None:
            limit = self.settings.context.fallback_tool_calls
            return bands.band_from_tool_calls(self.tool_calls, limit)
        return bands.band(tokens, self.marks)

    @property
    def tool_calls(self) -> int:
        """Tool calls of this session: the larger of the transcript's and the hooks' counts."""
        return max(self.session_state.reading.meter.tool_calls, self.session_state.activity.tools)

    @property
    def turns(self) -> int:
        """Ended turns of this session: the larger of the transcript's and the hooks' counts."""
        return max(self.session_state.reading.meter.turns, self.session_state.activity.turns)

    @property
    def compactions(self) -> int:
        """Compactions of this session: the larger of the transcript's and the hooks' counts."""
        state = self.session_state
        return max(state.reading.meter.compactions, state.activity.compactions)

    @property
    def cost_usd(self) -> float | None:
        """Cost in US dollars of the session and its copies (`copy_costs`); None if unknown."""
        own, copies = self.own_cost_usd, self.copy_costs.get(self.record.session or "", 0.0)
        return own if not copies else round((own or 0.0) + copies, 6)

    def add_copy_cost(self, session: str, cost: float) -> None:
        """Add the cost, in US dollars, of a copy that wrote a document.

        `session` is the id of the copied session. Adds the cost to the handoff in progress too.
        """
        self.copy_costs[session] = self.copy_costs.get(session, 0.0) + cost
        if self.handoff_record is not None:
            details = self.progress.details
            total = details.writer_cost_usd + cost
            self.progress.note(replace(details, writer_cost_usd=total))

    @property
    def own_cost_usd(self) -> float | None:
        """Known cost of the session in US dollars, without its copies (`copy_costs`).

        The largest known value, because a CLI that reopens a session may count from 0 again.
        """
        counted = (self.session_state.cost_usd, self.session.cost_usd if self.session else None)
        return max((cost for cost in counted if cost is not None), default=None)

    @property
    def must_read(self) -> str | None:
        """Path of the handoff document that the agent's session must read; else None."""
        return self.session.document if self.session else None

    def has_read(self, document: str) -> bool:
        """Return whether a tool call of this session contains the document's path."""
        return any(document in path for path in self.session_state.read_paths)

    def has_received(self, token: str) -> bool:
        """Return whether a prompt or injected context that contains `token` reached the model."""
        return any(token in text for text in self.session_state.received)

    # Directory

    @property
    def directory(self) -> Path:
        """The agent's working directory.

        With a worktree, the folder in the worktree that corresponds to the configured directory.
        """
        record = self.record
        return Path(record.folder or record.worktree or record.directory)

    def with_directory(self, directory: str) -> AgentRecord:
        """Return the agent's record with another configured directory.

        If the agent has a worktree, the folder in the worktree that corresponds to the new
        directory is determined only when the next job begins. Until then, `Agent.directory` is the
        worktree's root.
        """
        folder = self.record.folder if directory == self.record.directory else None
        return replace(self.record, directory=directory, folder=folder)

    def read_chain(self, store: Store, job: JobId | None) -> None:
        """Set `chain` to the stored sessions of a job; to an empty list if `job` is None."""
        self.chain = store.chain(job) if job is not None else []

    def save(self, store: Store, record: AgentRecord) -> None:
        """Save the record, then set it in memory. Raises `OsProblem`, and then changes nothing."""
        store.save_agent(record)
        self.record = record

    def change(self, **changes: object) -> AgentRecord:
        """Change fields of the agent's record in memory and return the record; does not save it.

        Use it for a note that the row must show even if the disk is full, and for a change that has
        already happened, such as the end of a process. For a decision, use `save`.
        """
        self.record = replace(self.record, **changes)  # type: ignore[arg-type]
        return self.record
