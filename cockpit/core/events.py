"""The events that the supervisor records: a type for each kind, with its data as fields.

The fields are the keys of an event's `data`: on the wire, in the database and for hooks. Fields may
be added; none is renamed or removed. `event_kinds` has the meaning of each kind, and `event_data`
converts events to and from stored data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.event_kinds import EventKind

PlainKind = Literal[
    "agent.arrived", "agent.company", "agent.forgotten", "agent.found", "agent.not_started",
    "agent.not_understood", "agent.prompt_not_read", "agent.warned", "compaction.not_kept",
    "facts.dropped", "handoff.edited", "handoff.held_back", "handoff.interrupted",
    "handoff.not_understood", "handoff.request_failed", "handoff.stalled",
    "handoff.template_failed", "loop.exhausted", "socket.bound_again", "socket.unreachable",
    "store.put_aside", "store.row_put_aside", "worktree.back", "worktree.not_copied",
    "worktree.setup",
]  # fmt: skip
PhaseKind = Literal[
    "handoff.asked", "handoff.waiting", "handoff.documenting", "handoff.review",
    "handoff.moving", "handoff.stopping", "handoff.starting", "handoff.confirming",
]  # fmt: skip
OutcomeKind = Literal[
    "handoff.confirmed", "handoff.cancelled", "handoff.refused", "handoff.revived",
    "handoff.moved", "handoff.failed",
]  # fmt: skip
HookEndKind = Literal["hook.ran", "hook.failed"]
HookSentKind = Literal["hook.delivered", "hook.undelivered"]
VerbKind = Literal["verb.asked", "verb.refused"]
PublishedKind = Literal["worktree.published", "worktree.not_published"]


@dataclass(frozen=True, slots=True)
class Plain:
    """An event without data."""

    kind: PlainKind


@dataclass(frozen=True, slots=True)
class Unknown:
    """A stored event of a kind that this version does not know."""

    kind: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AgentAdopting:
    kind: ClassVar[EventKind] = "agent.adopting"
    session: str
    pid: int
    """Pid of the process that had the session open."""
    directory: str


@dataclass(frozen=True, slots=True)
class AgentCompacted:
    kind: ClassVar[EventKind] = "agent.compacted"
    compactions: int
    """Number of compactions of this session so far."""
    tokens: int | None
    """Tokens in context before the compaction; None if unknown."""
    document: str | None
    """The file with the facts that were saved before the compaction; None if none were saved."""


@dataclass(frozen=True, slots=True)
class AgentEnded:
    kind: ClassVar[EventKind] = "agent.ended"
    killed: bool
    """Whether SIGKILL was needed."""
    stragglers: tuple[int, ...]
    """Pids of the session's other processes that were ended afterwards."""


@dataclass(frozen=True, slots=True)
class AgentExited:
    kind: ClassVar[EventKind] = "agent.exited"
    status: int | None
    signal: int | None
    """The signal that ended the process. `status` and `signal` are both None if no supervisor saw
    the process end."""
    completed: bool
    """Whether the job was done when the process ended; also true for a CLI whose transcript cockpit
    does not read."""
    told: bool
    """Whether an earlier event already reported that the job is done."""


@dataclass(frozen=True, slots=True)
class Need:
    """The reason that an agent waits for its user."""

    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class AgentNeedsYou:
    kind: ClassVar[EventKind] = "agent.needs_you"
    session: str
    needs: Need | None


@dataclass(frozen=True, slots=True)
class AgentRegained:
    kind: ClassVar[EventKind] = "agent.regained"
    session: str | None
    pid: int


@dataclass(frozen=True, slots=True)
class AgentRenamed:
    kind: ClassVar[EventKind] = "agent.renamed"
    before: str
    """The old name. The event is recorded under the new name."""


@dataclass(frozen=True, slots=True)
class AgentStarted:
    kind: ClassVar[EventKind] = "agent.started"
    session: str | None
    directory: str
    branch: str | None


@dataclass(frozen=True, slots=True)
class AgentStopped:
    kind: ClassVar[EventKind] = "agent.stopped"
    told: bool
    """Whether an earlier event already reported that the job is done."""


@dataclass(frozen=True, slots=True)
class AgentStragglers:
    kind: ClassVar[EventKind] = "agent.stragglers"
    stragglers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AgentUnowned:
    kind: ClassVar[EventKind] = "agent.unowned"
    pid: int


@dataclass(frozen=True, slots=True)
class BudgetCrossed:
    kind: ClassVar[EventKind] = "budget.crossed"
    cost_usd: float | None
    """The cost of the job's sessions so far, as far as it is known."""
    budget_usd: float | None


@dataclass(frozen=True, slots=True)
class DayBudgetCrossed:
    kind: ClassVar[EventKind] = "budget.day_crossed"
    day: str
    """The local date, such as `2026-01-31`."""
    cost_usd: float | None
    """The cost of all agents on this day so far."""
    budget_usd: float | None


@dataclass(frozen=True, slots=True)
class BandCrossed:
    kind: ClassVar[EventKind] = "band.crossed"
    band: str
    reached: tuple[str, ...]
    """The bands that the session reached for the first time since its start or its last compaction,
    from the lowest to the highest."""
    tokens: int | None
    window: int | None
    confidence: str | None
    """`tokens`, `window` and `confidence` are None if the band comes from the number of tool calls.
    """


@dataclass(frozen=True, slots=True)
class CompactionKept:
    kind: ClassVar[EventKind] = "compaction.kept"
    document: str


@dataclass(frozen=True, slots=True)
class ElsewhereCrossed:
    """The context of a watched session, which cockpit did not start, is past the act threshold."""

    kind: ClassVar[EventKind] = "elsewhere.crossed"
    session: str
    pid: int
    directory: str
    band: str
    """`act`, or `force` if the context passed both thresholds at once."""
    tokens: int
    window: int
    confidence: str
    """How reliable the size of the window is; `assumed` means that the size is a guess."""


@dataclass(frozen=True, slots=True)
class ElsewhereDocument:
    kind: ClassVar[EventKind] = "elsewhere.document"
    session: str
    pid: int
    directory: str
    document: str


@dataclass(frozen=True, slots=True)
class FactsGiven:
    kind: ClassVar[EventKind] = "facts.given"
    occasion: str
    token: str
    """Unique text in the facts. If the transcript contains this text, the facts have arrived."""


@dataclass(frozen=True, slots=True)
class HandoffBegun:
    kind: ClassVar[EventKind] = "handoff.begun"
    tokens: int | None
    window: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class HandoffAt:
    """A phase of a handoff began."""

    kind: PhaseKind
    phase: str


@dataclass(frozen=True, slots=True)
class HandoffOver:
    """A handoff ended. The event's kind shows the outcome."""

    kind: OutcomeKind
    why: str
    handoff: str | None
    """The handoff's id; None if unknown."""
    old_session: str | None
    new_session: str | None
    number: int
    """Number of confirmed handoffs of the job so far."""
    document: str | None


@dataclass(frozen=True, slots=True)
class HandoffDocument:
    kind: ClassVar[EventKind] = "handoff.document"
    document: str
    writer: str


@dataclass(frozen=True, slots=True)
class HandoffPutBack:
    kind: ClassVar[EventKind] = "handoff.put_back"
    document: str


@dataclass(frozen=True, slots=True)
class HandoffUndone:
    kind: ClassVar[EventKind] = "handoff.undone"
    old_session: str
    """The session that the undone handoff had started."""
    new_session: str
    """The previous session, which was reopened."""


@dataclass(frozen=True, slots=True)
class WriterFailed:
    kind: ClassVar[EventKind] = "handoff.writer_failed"
    writer: str


@dataclass(frozen=True, slots=True)
class HistoryRebuilt:
    kind: ClassVar[EventKind] = "history.rebuilt"
    left_aside: tuple[str, ...]
    """Paths of ignored files (unreadable, or not a complete handoff document); at most 20."""


@dataclass(frozen=True, slots=True)
class HookDecided:
    kind: ClassVar[EventKind] = "hook.decided"
    hook: str
    decision: str
    document: str | None


@dataclass(frozen=True, slots=True)
class HookEnded:
    """The end of a shell hook."""

    kind: HookEndKind
    hook: str
    type: str
    success: bool
    duration_ms: int
    exit_code: int | None
    error: str | None
    event: str
    output: str
    """The file with the hook's output."""


@dataclass(frozen=True, slots=True)
class HookSent:
    """The message of a hook or a notification was delivered, or cockpit gave up the message."""

    kind: HookSentKind
    hook: str
    type: str
    event: str | None
    """The hook event; None for the user's notifications."""
    success: bool
    attempts: int
    error: str | None
    message: str
    """The message's id."""


@dataclass(frozen=True, slots=True)
class RunCompleted:
    kind: ClassVar[EventKind] = "run.completed"
    session: str
    needs: None = None
    """Always null; kept because fields are never removed."""


@dataclass(frozen=True, slots=True)
class SessionCleared:
    kind: ClassVar[EventKind] = "session.cleared"
    old_session: str
    new_session: str


@dataclass(frozen=True, slots=True)
class VerbAsked:
    """A client's request for a change, accepted or refused."""

    kind: VerbKind
    verb: str
    by: Mapping[str, str | int]
    """The caller, as `Caller.event_data` returns it."""


@dataclass(frozen=True, slots=True)
class WorktreeLost:
    kind: ClassVar[EventKind] = "worktree.lost"
    directory: str


@dataclass(frozen=True, slots=True)
class WorktreePublished:
    """The result of pushing a branch and, if configured, opening its pull request."""

    kind: PublishedKind
    detail: str


@dataclass(frozen=True, slots=True)
class WorktreeReady:
    kind: ClassVar[EventKind] = "worktree.ready"
    directory: str
    branch: str | None
    created: bool
    new_branch: bool


@dataclass(frozen=True, slots=True)
class WorktreeRemoved:
    kind: ClassVar[EventKind] = "worktree.removed"
    directory: str
    branch: str | None
    salvage: str | None
    """The git reference that keeps the worktree's content; None if there was nothing to keep."""


@dataclass(frozen=True, slots=True)
class WorktreeSetUp:
    kind: ClassVar[EventKind] = "worktree.set_up"
    output: str
    """The file with the setup's output."""


Event = (
    AgentAdopting | AgentCompacted | AgentEnded | AgentExited | AgentNeedsYou | AgentRegained
    | AgentRenamed | AgentStarted | AgentStopped | AgentStragglers | AgentUnowned | BandCrossed
    | BudgetCrossed | CompactionKept | DayBudgetCrossed | ElsewhereCrossed | ElsewhereDocument
    | FactsGiven | HandoffAt | HandoffBegun | HandoffDocument | HandoffOver | HandoffPutBack
    | HandoffUndone | HistoryRebuilt | HookDecided | HookEnded | HookSent | Plain | RunCompleted
    | SessionCleared | Unknown | VerbAsked | WorktreeLost | WorktreePublished | WorktreeReady
    | WorktreeRemoved | WorktreeSetUp | WriterFailed
)  # fmt: skip
