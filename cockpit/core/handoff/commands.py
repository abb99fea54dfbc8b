"""Commands that the supervisor's engine performs for a handoff. Every command is idempotent."""

from __future__ import annotations

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.handoff.states import Document, Writer


@dataclass(frozen=True, slots=True)
class Prepare:
    """Write a draft from facts, for the user to read before answering."""


@dataclass(frozen=True, slots=True)
class Request:
    """Ask the agent for the document: in the agent's next hook during a turn, else with a pasted
    prompt."""


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Withdraw a request for the document, or to end the turn, that has not reached the agent."""


@dataclass(frozen=True, slots=True)
class AskAgain:
    """Send the agent the errors in its draft."""

    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AskToEnd:
    """Ask the agent after its next tool call to end its turn, because the document is complete."""


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Interrupt the turn, once, with as many presses of Escape as the CLI needs."""


@dataclass(frozen=True, slots=True)
class Compose:
    """Validate the text of `writer`, add facts and seal the document. An event reports the
    result."""

    writer: Writer


@dataclass(frozen=True, slots=True)
class Refresh:
    """Renew the facts of a sealed document and seal it again. An event reports the result."""

    document: Document


@dataclass(frozen=True, slots=True)
class EndPredecessor:
    """End the old process and every process of the session. An event reports the result."""


@dataclass(frozen=True, slots=True)
class StartSuccessor:
    """Start the new session, or adopt its running process. Earlier attempts are ended first."""

    attempt: int


@dataclass(frozen=True, slots=True)
class RevivePredecessor:
    """Reopen the old session in the agent's pane."""


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
