"""What can happen to a handoff: what is seen, what the user says, how a command went."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from cockpit.core.handoff.states import Document


class Turn(StrEnum):
    """What the agent is doing, as far as can be told."""

    WORKING = "working"
    IDLE = "idle"
    DIALOG = "dialog"
    """A question to the user is open in the pane: it is never typed into."""
    UNKNOWN = "unknown"


class Draft(StrEnum):
    """What stands where the agent was asked to write."""

    ABSENT = "absent"
    UNSTABLE = "unstable"
    """There, but still changing."""
    VALID = "valid"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Seen:
    """The world as it is seen now: given after every change and at least every second.

    Level, not edge: the same sight twice changes nothing, and a sight that was missed is made
    good by the next one.
    """

    now: float
    turn: Turn = Turn.UNKNOWN
    composer_clean: bool | None = None
    """False while the user has typed something; None where it cannot be told."""
    tool_running: bool = False
    """A tool of the main thread was called and has not come back."""
    subagents: tuple[str, ...] = ()
    git_busy: str | None = None
    forced: bool = False
    """The context is in the force band."""
    tokens: int | None = None
    """In context now; None while that is not known."""
    compactions: int = 0
    """Of this session so far."""
    queue: str | None = None
    """Why this handoff must wait for others; None when it may go on."""
    delivered: bool = False
    """The record shows that the request reached the model."""
    pilot_spoke: bool = False
    """The user gave the agent a new prompt after the handoff began."""
    moved: bool = False
    """The agent did something after the document was sealed."""
    predecessor_alive: bool = True
    draft: Draft = Draft.ABSENT
    problems: tuple[str, ...] = ()
    """What an invalid draft lacks."""
    successor_alive: bool = True
    successor_replied: bool = False
    """Its own record holds its first assistant message."""
    successor_dialog: bool = False
    """A dialog is open in its pane: time does not run against it."""


@dataclass(frozen=True, slots=True)
class Approved:
    """The user said yes to the question that stands; `straight`: to the review as well."""

    now: float
    straight: bool = False


@dataclass(frozen=True, slots=True)
class Hurried:
    """The user does not want to wait for a good moment any longer."""

    now: float


@dataclass(frozen=True, slots=True)
class Declined:
    """The user said no."""


@dataclass(frozen=True, slots=True)
class Snoozed:
    """The user wants to be asked again later: at a time, or at so many tokens in context."""

    until: float | None
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class CalledOff:
    """Something made it pointless: a compaction, a stop by the user."""

    why: str


@dataclass(frozen=True, slots=True)
class Abandoned:
    """All agents are being ended: it is over in every state; whoever lives is ended by others."""

    why: str


@dataclass(frozen=True, slots=True)
class DocumentSealed:
    """The document is durably on disk."""

    now: float
    document: Document


@dataclass(frozen=True, slots=True)
class DocumentFailed:
    """The writer in turn could not give a valid document."""

    now: float
    why: str


@dataclass(frozen=True, slots=True)
class PredecessorGone:
    """The old process, and everything that carried its marker, was seen gone."""


@dataclass(frozen=True, slots=True)
class PredecessorSurvived:
    """It was not ended: not even KILL did it, or its document is not there any more."""

    why: str


@dataclass(frozen=True, slots=True)
class Started:
    """A process for the session runs, or was found running."""

    now: float


@dataclass(frozen=True, slots=True)
class StartFailed:
    """The session could not be started."""

    why: str


Event = (
    Seen
    | Approved
    | Hurried
    | Declined
    | Snoozed
    | CalledOff
    | Abandoned
    | DocumentSealed
    | DocumentFailed
    | PredecessorGone
    | PredecessorSurvived
    | Started
    | StartFailed
)
