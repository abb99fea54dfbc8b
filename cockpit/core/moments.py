"""What a CLI tells while it works, in words of our own: turns, dialogs, subagents, sessions.

A session's record says what was; these say what is. A runtime's adapter makes them from hooks;
they carry no times, because the one who hears them knows when.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cockpit.core.facts import BackgroundTask

DialogKind = Literal["permission", "question", "trust"]


@dataclass(frozen=True, slots=True)
class SessionBegan:
    """The CLI is up. `source`: startup, resume, clear, compact, fork."""

    session: str
    source: str


@dataclass(frozen=True, slots=True)
class SessionClosed:
    """The CLI says goodbye to a session. `reason`: clear, prompt_input_exit, other, …"""

    reason: str


@dataclass(frozen=True, slots=True)
class PromptTaken:
    """A prompt was accepted: a turn begins."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolUsed:
    """A tool call came back; the turn goes on."""

    words: str
    """The call in one line, for the row."""


@dataclass(frozen=True, slots=True)
class TurnOver:
    """The main agent ended its turn."""

    text: str = ""
    """The last thing it said."""
    background: tuple[BackgroundTask, ...] = ()
    """What goes on in the background after it, subagents included."""


@dataclass(frozen=True, slots=True)
class TurnBroken:
    """The turn ended by an error of the API."""

    error: str
    detail: str = ""
    resets_at: float | None = None
    """When the limit that broke it begins anew, where that was said; unix seconds."""


@dataclass(frozen=True, slots=True)
class DialogOpened:
    """The CLI waits for the user."""

    kind: DialogKind
    detail: str
    tool: str = ""
    """The tool that it asks leave for, where that was told."""
    command: str = ""
    """What the tool is to do, whole, over as many lines as it has."""


@dataclass(frozen=True, slots=True)
class SubagentBegan:
    id: str
    type: str


@dataclass(frozen=True, slots=True)
class SubagentOver:
    id: str


@dataclass(frozen=True, slots=True)
class CompactionBegins:
    """The CLI is about to compact, or prepares to: not a proof that it does."""

    trigger: str


@dataclass(frozen=True, slots=True)
class CompactionOver:
    """The CLI has compacted."""

    trigger: str


Moment = (
    SessionBegan
    | SessionClosed
    | PromptTaken
    | ToolUsed
    | TurnOver
    | TurnBroken
    | DialogOpened
    | SubagentBegan
    | SubagentOver
    | CompactionBegins
    | CompactionOver
)
