"""What a handoff can ask of the engine. Every command may be given twice to the same effect."""

from __future__ import annotations

from dataclasses import dataclass

from cockpit.core.handoff.states import Document, Writer


@dataclass(frozen=True, slots=True)
class Prepare:
    """Make a draft of facts, for the user to look at while asked."""


@dataclass(frozen=True, slots=True)
class Request:
    """Ask the agent for the document: laid out for its next tool boundary, or pasted if idle."""


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Take a request back that has not arrived."""


@dataclass(frozen=True, slots=True)
class AskAgain:
    """Tell the agent what its draft lacks."""

    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AskToEnd:
    """Tell the agent at its next tool boundary that it is agreed, and to end its turn."""


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Press Escape, once."""


@dataclass(frozen=True, slots=True)
class Compose:
    """Have this writer's text checked, completed with facts, and sealed. Answered by an event."""

    writer: Writer


@dataclass(frozen=True, slots=True)
class Refresh:
    """Renew the facts of a sealed document, and seal it again. Answered by `DocumentSealed`."""

    document: Document


@dataclass(frozen=True, slots=True)
class EndPredecessor:
    """End the old process and everything with its marker, and prove it. Answered by an event."""


@dataclass(frozen=True, slots=True)
class StartSuccessor:
    """Start this attempt, or adopt it if it runs; leftovers of earlier attempts are ended first."""

    attempt: int


@dataclass(frozen=True, slots=True)
class RevivePredecessor:
    """Reopen the old session where it was; leave the notice of a pending handoff."""


Command = (
    Prepare
    | Request
    | Withdraw
    | AskAgain
    | AskToEnd
    | Interrupt
    | Compose
    | Refresh
    | EndPredecessor
    | StartSuccessor
    | RevivePredecessor
)
