"""The states of a handoff. Each state has only the fields that it needs.

Times are monotonic seconds. `PHASES` has the name of each state for users.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.ids import SessionId

Writer = Literal["agent", "sdk", "facts"]
Reason = Literal["threshold", "limit", "manual", "agent", "compaction", "loop"]
Phase = Literal[
    "asked", "waiting", "documenting", "review", "moving", "stopping", "starting", "confirming"
]


@dataclass(frozen=True, slots=True)
class Successor:
    """A session that may be started; its id is chosen before the old process is ended."""

    session: SessionId
    run: str
    """Value of `COCKPIT_RUN` in the environment of the session's processes."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The settings of a handoff. The user can change some of them while the handoff is open."""

    reason: Reason
    ask: bool
    """Whether the user is asked before the agent is asked for the document."""
    review: bool
    """Whether the user reviews the document before the old process is ended."""
    successors: tuple[Successor, ...]
    """The sessions to start, one for each allowed attempt, because a CLI refuses an id that it has
    seen before."""
    now: bool = False
    """Whether to interrupt the turn and subagents instead of waiting for their end."""
    writers: tuple[Writer, ...] = ("agent", "sdk", "facts")
    """The writers to try, in this order. `agent` is first or left out; `facts` is always tried
    last."""
    given: str | None = None
    """The absolute path of an existing document to use; None to have one written."""
    deadline: float = 180.0
    """Seconds for the agent to write the document, after the request reached the agent."""
    grace: float = 600.0
    """Seconds that a forced handoff waits before the turn is interrupted: until cockpit's request
    reaches the agent, or until a running tool, subagent or git operation ends."""
    confirm_within: float = 180.0
    """Maximum seconds until the first reply of the new session."""
    runtime: str = ""
    """The CLI of the new session; empty for the CLI of the old session."""
    model: str = ""
    """The model of the new session; empty for its CLI's default."""
    re_asks: int = 2
    """Maximum times that the agent is asked to correct its document before the next writer is
    tried."""
    move_to: str = ""
    """The user's name for the machine on which the job continues; empty for this machine. If
    set, this machine starts no session."""


@dataclass(frozen=True, slots=True)
class Document:
    """A sealed document: the file is synced and renamed, and its folder is synced."""

    path: str
    sha256: str
    writer: Writer


@dataclass(frozen=True, slots=True)
class Asked:
    """The user is asked whether to hand off; the agent is not asked for anything yet."""

    snoozed_until: float | None = None
    snoozed_tokens: int | None = None
    """The user is asked again at this number of tokens in context, or in the force band."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The agent cannot be asked for the document yet, or the request has not reached the agent."""

    since: float
    why: str = ""
    requested_at: float | None = None
    """When the request was last made; None if no request is pending."""
    tries: int = 0
    interrupted_at: float | None = None
    laid: bool = False
    """The agent gets the request after its next tool call; the request was not pasted."""
    idle_since: float | None = None
    """Since when the agent has been idle while the request is pending; None if the agent is not
    idle."""
    queued: bool = False
    """The handoff is waiting only for other handoffs."""


@dataclass(frozen=True, slots=True)
class Documenting:
    """A writer writes the document."""

    writer: Writer
    since: float
    until: float
    asked_again: int = 0
    composing: bool = False
    """The draft is being checked against git and sealed."""
    passed_over: str = ""
    """Why the previous writer failed; empty for the first writer."""


@dataclass(frozen=True, slots=True)
class Reviewing:
    """The user is reviewing the document; the agent may continue during the review."""

    document: Document
    snoozed_until: float | None = None
    snoozed_tokens: int | None = None
    """The user is asked again at this number of tokens in context, or in the force band."""


@dataclass(frozen=True, slots=True)
class Settling:
    """The document needs no more review; the handoff waits for the end of the agent's turn."""

    document: Document
    since: float
    why: str = ""
    refreshing: bool = False
    """Whether the facts are being renewed, because the agent worked after the document was sealed.
    """
    interrupted_at: float | None = None
    asked_to_end: bool = False
    """The agent was asked to end its turn."""
    compactions: int | None = None
    """Number of compactions of the session when this state began; None before the first
    observation."""
    forced_at: float | None = None
    """When the handoff was forced (see `Observation.forced`), or the context was compacted. From
    then on the turn may be interrupted, even if a compaction lowered the token count."""
    quiet_since: float | None = None
    """For a job that moves: since when the handoff has nothing left to wait for (see `QUIET` in
    `swapping`). None while it waits for something, and for other jobs."""


@dataclass(frozen=True, slots=True)
class Moving:
    """The job is being moved to another machine; the old session is idle, and is not ended yet."""

    document: Document


@dataclass(frozen=True, slots=True)
class Stopping:
    """The old process is being ended.

    This state lasts until the process has ended or could not be ended. In this state, the handoff
    cannot be cancelled.
    """

    document: Document


@dataclass(frozen=True, slots=True)
class Starting:
    """The old process has ended; the successor is being started."""

    document: Document
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Confirming:
    """The successor is running; the handoff waits for its first reply."""

    document: Document
    attempt: int
    until: float


@dataclass(frozen=True, slots=True)
class Reviving:
    """The old session is being reopened: no successor was confirmed, or the successor was
    cancelled."""

    document: Document
    why: str


class Outcome(StrEnum):
    """How a handoff ended."""

    DONE = "done"
    CANCELLED = "cancelled"
    """The handoff was cancelled, for example because the CLI compacted or the agent ended."""
    REFUSED = "refused"
    """The user, or an agent with the permission, refused the handoff."""
    REVIVED = "revived"
    """The old session was reopened: no successor was confirmed, or the successor was cancelled."""
    MOVED = "moved"
    """The job continues on another machine; the old session was ended."""
    FAILED = "failed"
    """The old session was not ended, or could not be reopened; the user must check which session is
    running."""


CONFIRMED = frozenset({Outcome.DONE.value, Outcome.MOVED.value})
"""The outcomes after which a new session continues the job, here or on another machine."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The handoff has ended."""

    outcome: Outcome
    why: str = ""
    document: Document | None = None
    attempt: int = 0
    """The number of the attempt that was confirmed, from 1; 0 if no attempt was confirmed."""
    compacted: bool = False
    """The handoff was cancelled because the context was compacted."""


State = (
    Asked
    | Waiting
    | Documenting
    | Reviewing
    | Settling
    | Moving
    | Stopping
    | Starting
    | Confirming
    | Reviving
    | Ended
)

PHASES: dict[type, Phase] = {
    Asked: "asked",
    Waiting: "waiting",
    Documenting: "documenting",
    Reviewing: "review",
    Settling: "waiting",
    Moving: "moving",
    Stopping: "stopping",
    Starting: "starting",
    Confirming: "confirming",
    Reviving: "starting",
}
"""The phase of each state, as users see it; `Ended` has no phase."""


@dataclass(frozen=True, slots=True)
class Handoff:
    """One handoff: its plan and its state."""

    plan: Plan
    state: State

    @property
    def document(self) -> Document | None:
        """The sealed document; None until there is one."""
        return getattr(self.state, "document", None)

    def successor(self, attempt: int) -> Successor:
        """Return the session of an attempt, counted from 1."""
        return self.plan.successors[attempt - 1]


def is_revocable(handoff: Handoff) -> bool:
    """Return whether cancelling the handoff leaves the old session as it is: `Stopping` has not
    begun."""
    return isinstance(handoff.state, Asked | Waiting | Documenting | Reviewing | Settling | Moving)
