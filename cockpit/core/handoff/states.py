"""Where a handoff can stand. Each state holds exactly what that state needs.

Times are monotonic seconds. What is shown to people as a phase is `PHASES`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from cockpit.core.ids import SessionId

Writer = Literal["agent", "sdk", "facts"]
Reason = Literal["threshold", "limit", "manual", "agent", "compaction", "loop"]
Phase = Literal["asked", "waiting", "documenting", "review", "stopping", "starting", "confirming"]


@dataclass(frozen=True, slots=True)
class Successor:
    """A session that may be started; its identity is chosen before anything is ended."""

    session: SessionId
    run: str
    """The marker that its processes will carry."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What was settled when the handoff began."""

    reason: Reason
    ask: bool
    """Ask the user before anything is demanded of the agent."""
    review: bool
    """Show the user the document before anything is ended."""
    successors: tuple[Successor, ...]
    """One for each start that is allowed; a CLI refuses an id that it has seen before."""
    now: bool = False
    """Do not wait for a turn boundary, nor for subagents."""
    writers: tuple[Writer, ...] = ("agent", "sdk", "facts")
    """In turn; the agent stands first or not at all, and facts come last even if not named."""
    given: str | None = None
    """A document that somebody has written already, absolute path."""
    deadline: float = 180.0
    """Seconds for the agent to write, from the moment the request reached it."""
    grace: float = 600.0
    """Seconds of patience with a running tool, once no more is waited for a good moment."""
    confirm_within: float = 180.0
    """Seconds for a successor's first reply."""
    re_asks: int = 2
    """Times the agent is told what is missing before the next writer takes over."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document that is durably on disk: synced, renamed, its folder synced."""

    path: str
    sha256: str
    writer: Writer


@dataclass(frozen=True, slots=True)
class Asked:
    """The user is asked whether to hand off; nothing is demanded of the agent yet."""

    snoozed_until: float | None = None
    snoozed_tokens: int | None = None
    """Asked again at so many tokens in context, or in the force band."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """For a moment at which the agent can be asked, and for the request to reach it."""

    since: float
    why: str = ""
    requested_at: float | None = None
    """When the request was last laid out or pasted; None while it is not."""
    tries: int = 0
    interrupted_at: float | None = None
    laid: bool = False
    """It was laid out for a tool boundary, not pasted."""
    idle_since: float | None = None
    """Since when the agent has been idle without a break, with the request out."""
    queued: bool = False
    """It waits for a place among the handoffs under way, and for nothing else."""


@dataclass(frozen=True, slots=True)
class Documenting:
    """A writer is at it."""

    writer: Writer
    since: float
    until: float
    asked_again: int = 0
    composing: bool = False
    """The draft is being checked against git and sealed."""
    passed_over: str = ""
    """Why the writer before this one gave no document; empty for the first."""


@dataclass(frozen=True, slots=True)
class Reviewing:
    """The user reads the document; the agent may go on meanwhile."""

    document: Document
    snoozed_until: float | None = None
    snoozed_tokens: int | None = None
    """Asked again at so many tokens in context, or in the force band."""


@dataclass(frozen=True, slots=True)
class Settling:
    """The document is agreed; for the agent's turn to be over."""

    document: Document
    since: float
    why: str = ""
    refreshing: bool = False
    """The agent went on after the document was sealed: its facts are being renewed."""
    interrupted_at: float | None = None
    asked_to_end: bool = False
    """The agent was told that it is agreed, and asked to end its turn."""
    compactions: int | None = None
    """Of the session, as they were found when it was agreed; None before the first look."""
    forced_at: float | None = None
    """Since when no more is waited for a good moment: a filled context stays one, whatever its
    compaction makes of the reading."""


@dataclass(frozen=True, slots=True)
class Stopping:
    """The point of no return: the old process is being ended and proved gone."""

    document: Document


@dataclass(frozen=True, slots=True)
class Starting:
    """The old process is gone; the successor is being started."""

    document: Document
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Confirming:
    """The successor runs; for its first reply."""

    document: Document
    attempt: int
    until: float


@dataclass(frozen=True, slots=True)
class Reviving:
    """No successor would start; the old session is being reopened."""

    document: Document
    why: str


class Outcome(StrEnum):
    """How a handoff ended."""

    DONE = "done"
    CANCELLED = "cancelled"
    """It was called off, and the old session lives on untouched."""
    REFUSED = "refused"
    """The user said no."""
    REVIVED = "revived"
    """No successor would start, and the old session was reopened."""
    FAILED = "failed"
    """Nobody can be shown to live in the worktree; the user must look."""


@dataclass(frozen=True, slots=True)
class Ended:
    """Over."""

    outcome: Outcome
    why: str = ""
    document: Document | None = None
    attempt: int = 0
    """The start that was confirmed, from 1; 0 if none was."""


State = (
    Asked
    | Waiting
    | Documenting
    | Reviewing
    | Settling
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
    Stopping: "stopping",
    Starting: "starting",
    Confirming: "confirming",
    Reviving: "starting",
}
"""What people are shown; `Ended` has no phase."""


@dataclass(frozen=True, slots=True)
class Handoff:
    """One handoff: what was settled, and where it stands."""

    plan: Plan
    state: State

    @property
    def document(self) -> Document | None:
        """The sealed document, once there is one."""
        return getattr(self.state, "document", None)

    def successor(self, attempt: int) -> Successor:
        """The identity of a start, counted from 1."""
        return self.plan.successors[attempt - 1]


def is_revocable(handoff: Handoff) -> bool:
    """Nothing was ended yet: it can be called off, and the old session has lost nothing."""
    return isinstance(handoff.state, Asked | Waiting | Documenting | Reviewing | Settling)
