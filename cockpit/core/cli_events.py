"""Hook events of a CLI in a common form: turns, dialogs, subagents, sessions.

A runtime's adapter creates these events from hooks. The events have no timestamps; the receiver
knows when each event arrived.
"""

from __future__ import annotations

from typing import Literal

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.facts import BackgroundTask

DialogKind = Literal["permission", "question", "trust"]


@dataclass(frozen=True, slots=True)
class SessionBegan:
    """The CLI started a session. `source`: startup, resume, clear, compact, fork."""

    session: str
    source: str


@dataclass(frozen=True, slots=True)
class SessionClosed:
    """The CLI ended a session. `reason`: clear, prompt_input_exit, other, …"""

    reason: str


@dataclass(frozen=True, slots=True)
class PromptTaken:
    """The CLI accepted a prompt, and a turn begins."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolUsed:
    """A tool call returned; the turn continues."""

    words: str
    """The tool call in one line, for the agent's row."""
    tool: str = ""
    """The tool's name, if the CLI can have a dialog open while another tool returns; else empty."""


@dataclass(frozen=True, slots=True)
class TurnOver:
    """The main agent ended its turn."""

    text: str = ""
    """The agent's last reply."""
    background: tuple[BackgroundTask, ...] = ()
    """Tasks that continue in the background, including subagents."""


@dataclass(frozen=True, slots=True)
class TurnBroken:
    """The turn ended with an API error."""

    error: str
    detail: str = ""
    resets_at: float | None = None
    """When the usage limit resets, if the error says so; unix seconds."""


@dataclass(frozen=True, slots=True)
class DialogOpened:
    """The CLI is waiting for the user."""

    kind: DialogKind
    detail: str
    tool: str = ""
    """The tool that needs permission; empty if unknown, or if `kind` is not `permission`."""
    command: str = ""
    """The tool's main argument, such as a command, path or URL; can have several lines."""
    body: str = ""
    """Everything that the user needs to read: the command, the change of a file, the plan, or the
    questions. Empty if the CLI's hooks do not report this text."""
    asked_by: str = ""
    """The tool that the dialog is about, named as in `ToolUsed.tool`; empty if unknown."""


@dataclass(frozen=True, slots=True)
class SubagentBegan:
    id: str
    type: str
    words: str = ""
    """The call that started the subagent, in one line; empty for a CLI whose transcript records a
    call when the call starts."""


@dataclass(frozen=True, slots=True)
class SubagentOver:
    id: str


@dataclass(frozen=True, slots=True)
class CompactionBegins:
    """The CLI announced a compaction, which may not follow."""

    trigger: str


@dataclass(frozen=True, slots=True)
class CompactionOver:
    """The CLI has compacted."""

    trigger: str


CliEvent = (
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
