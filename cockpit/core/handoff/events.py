"""Events of a handoff: observations, answers of the user, and results of commands."""

from __future__ import annotations

from enum import StrEnum

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.handoff.states import Document


class Turn(StrEnum):
    """The activity of the agent."""

    WORKING = "working"
    IDLE = "idle"
    DIALOG = "dialog"
    """A question to the user is open in the pane; cockpit types nothing into the pane."""
    UNKNOWN = "unknown"


class Draft(StrEnum):
    """The state of the file that the agent was asked to write."""

    ABSENT = "absent"
    UNSTABLE = "unstable"
    """The file exists, but is still changing."""
    VALID = "valid"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Observation:
    """An observation of the agent, sent after every change and at regular intervals.

    Level-triggered: a repeated observation changes nothing, and a missed observation is replaced by
    the next. In `Stopping`, `Starting` and `Confirming`, only `now` and the fields about the
    successor are set.
    """

    now: float
    turn: Turn = Turn.UNKNOWN
    composer_clean: bool | None = None
    """Whether the composer (the CLI's prompt input) has no text of the user; None if unknown."""
    tool_running: bool = False
    """A tool of the main thread was called and has not returned."""
    subagents: tuple[str, ...] = ()
    git_busy: str | None = None
    forced: bool = False
    """The context is in the force band; or the handoff is due to a limit, and the session has
    exceeded its time limit and the grace period."""
    tokens: int | None = None
    """Tokens in context; None if unknown."""
    compactions: int = 0
    """Number of compactions of this session so far."""
    queue: str | None = None
    """Why this handoff must wait for other handoffs; None if the handoff may continue."""
    delivered: bool = False
    """The transcript shows that the request reached the model."""
    user_prompted: bool = False
    """The user gave the agent a new prompt after the handoff began."""
    moved: bool = False
    """The agent worked after the document was sealed."""
    predecessor_alive: bool = True
    draft: Draft = Draft.ABSENT
    problems: tuple[str, ...] = ()
    """The errors of an invalid draft."""
    successor_alive: bool = True
    successor_replied: bool = False
    """The successor's transcript has its first assistant message."""
    successor_dialog: bool = False
    """A dialog is open in the successor's pane. When the dialog closes, the time limit for the
    first reply starts again."""


@dataclass(frozen=True, slots=True)
class Approved:
    """The user approved the handoff. With `straight`, the review is skipped."""

    now: float
    straight: bool = False


@dataclass(frozen=True, slots=True)
class Retargeted:
    """The user chose another CLI or model for the new session; see `Plan.runtime`."""

    runtime: str
    model: str


@dataclass(frozen=True, slots=True)
class Hurried:
    """The user does not want to wait for the end of the turn."""

    now: float


@dataclass(frozen=True, slots=True)
class Declined:
    """The user, or an agent with the permission, refused or cancelled the handoff."""

    by: str = "you"
    """Who refused or cancelled, as subject of a sentence: `you`, `ana@laptop` or `agent api`."""


@dataclass(frozen=True, slots=True)
class Snoozed:
    """The user wants to be asked again later: at a time, or at a number of tokens in context."""

    until: float | None
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class CalledOff:
    """The handoff was cancelled, for example because the context was compacted or the user stopped
    the agent."""

    why: str
    compacted: bool = False
    """Whether the handoff was cancelled because the context was compacted."""


@dataclass(frozen=True, slots=True)
class Moved:
    """The new session on the other machine has replied, so the old session can be ended."""


@dataclass(frozen=True, slots=True)
class Abandoned:
    """All agents are being ended. This event ends a handoff in every state, but ends no process."""

    why: str


@dataclass(frozen=True, slots=True)
class Resumed:
    """The commands of the state must be performed again, after a restart or an error.

    It is unknown whether a request reached the agent. The request is repeated unless the transcript
    shows that it arrived.
    """


@dataclass(frozen=True, slots=True)
class DocumentSealed:
    """The document was sealed: it is complete, and synced to disk."""

    now: float
    document: Document


@dataclass(frozen=True, slots=True)
class DocumentFailed:
    """The current writer could not write a valid document, or the facts could not be renewed."""

    now: float
    why: str


@dataclass(frozen=True, slots=True)
class PredecessorGone:
    """The old process and every other process of the session have ended."""


@dataclass(frozen=True, slots=True)
class PredecessorSurvived:
    """The old session was not ended: SIGKILL failed, or cockpit did not try because a check of the
    document or of the new session's CLI failed."""

    why: str


@dataclass(frozen=True, slots=True)
class Started:
    """The process of the successor, or of the reopened old session, is running."""

    now: float


@dataclass(frozen=True, slots=True)
class StartFailed:
    """The successor could not be started, or the old session could not be reopened."""

    why: str


Event = (
    Observation
    | Approved
    | Retargeted
    | Hurried
    | Declined
    | Snoozed
    | CalledOff
    | Moved
    | Abandoned
    | Resumed
    | DocumentSealed
    | DocumentFailed
    | PredecessorGone
    | PredecessorSurvived
    | Started
    | StartFailed
)
