"""What can happen in one session of an agent's CLI, in words of our own.

A runtime's adapter turns each line of its CLI's record into these; everything above reads
only these. The set is closed: whatever makes cockpit move on behalf of a transcript is here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one API message, as the API billed them."""

    input: int = 0
    cache_creation: int = 0
    cache_read: int = 0
    output: int = 0

    @property
    def context(self) -> int:
        """Tokens that filled the window for this message: everything but the reply."""
        return self.input + self.cache_creation + self.cache_read


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One call of a tool, as the model wrote it."""

    id: str
    name: str
    input: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AssistantReplied:
    """One record of an API message; several records share a `message_id`, the last one counts."""

    message_id: str
    model: str
    context: Usage
    """What filled the window: the last of `iterations` where the record has them."""
    billed: Usage
    """What the whole message cost, for totals."""
    text: str = ""
    tools: tuple[ToolUse, ...] = ()
    stop_reason: str | None = None
    sidechain: bool = False
    """A subagent's: it costs money, and says nothing about the main context."""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class UserSaid:
    """A prompt, by the user or whoever started the session; never a tool's result."""

    text: str
    meta: bool = False
    """Put there by the CLI (hook feedback, caveats), not by a person."""
    compact_summary: bool = False
    sidechain: bool = False
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """The result of a tool call came back."""

    tool_use_id: str
    failed: bool = False
    text: str = ""
    """The beginning of what the tool said, at most 2,000 characters."""
    agent_id: str | None = None
    """Set when the tool started a subagent: its id."""
    agent_status: str | None = None
    """`running`, `completed`, `failed` or `stopped`, where `agent_id` is set."""
    task_id: str | None = None
    """Set when the command goes on in the background: the task's id."""
    task_log: str = ""
    """The file that the output of that task goes to."""
    sidechain: bool = False
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Compacted:
    """The CLI summarised the conversation; the reading is unknown until the next reply."""

    trigger: str = "auto"
    pre_tokens: int | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The CLI's own note that a turn is over."""

    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The user pressed Esc; no hook says so, only the record does."""

    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ApiFailed:
    """A request did not go through; it says nothing about the context."""

    error: str
    status: int | None = None
    at: datetime | None = None
    resets_at: float | None = None
    """When the limit that it met begins anew, where that was said; unix seconds."""


@dataclass(frozen=True, slots=True)
class CostCounted:
    """The CLI's running total for the session, in US dollars."""

    total_usd: float


@dataclass(frozen=True, slots=True)
class ContextInjected:
    """A hook's answer reached the model: the proof that a verdict was delivered."""

    hook_event: str
    text: str


@dataclass(frozen=True, slots=True)
class PromptFileTaken:
    """The CLI put a file of the prompt before it into its request: a piece of that prompt."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Identified:
    """Something the record says about itself: where it ran, on what."""

    session_id: str | None = None
    cwd: str | None = None
    branch: str | None = None
    permission_mode: str | None = None
    model: str | None = None
    window: int | None = None


SessionEvent = (
    AssistantReplied
    | UserSaid
    | ToolFinished
    | Compacted
    | TurnEnded
    | Interrupted
    | ApiFailed
    | CostCounted
    | ContextInjected
    | PromptFileTaken
    | Identified
)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A line that is no record: torn, binary, too large, or not what it claims. Never raised."""

    reason: Literal["torn", "not-json", "not-a-record", "too-long", "too-many-values"]
    reading: bool = False
    """It may have been a reply or a compaction: the context is unknown until the next reply."""
