"""The events of one session's transcript, in a form that is common to all CLIs.

A runtime's adapter converts each line of its CLI's transcript to these events. All other code reads
only the events.
"""

from __future__ import annotations

from dataclasses import field
from datetime import datetime
from typing import Any, Literal, TypeVar, dataclass_transform

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.rate_limits import RateLimit

C = TypeVar("C")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def _frequent(cls: type[C]) -> type[C]:
    """Make a dataclass for an event that is very frequent in transcripts.

    Only the type checker forbids assignment to the attributes. Freezing the dataclass at run time
    would make the creation of an event three times slower, and reading a transcript much slower.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)


@_frequent
class Usage:
    """The tokens of one API message, as the API billed them."""

    input: int = 0
    cache_creation: int = 0
    cache_read: int = 0
    output: int = 0

    @property
    def context(self) -> int:
        """Tokens in the window for this message, without the reply."""
        return self.input + self.cache_creation + self.cache_read


@_frequent
class ToolUse:
    """One call of a tool, as the model wrote it."""

    id: str
    name: str
    input: dict[str, Any] = field(default_factory=dict)


@_frequent
class AssistantReplied:
    """One record of an API message. A message can have several records, each with different text
    and tools."""

    message_id: str
    model: str
    context: Usage | None
    """Tokens in the window; from the last of the record's `iterations`, if there are any. None if
    the CLI records usage apart from text and tools; this event then changes no token count."""
    billed: Usage
    """Usage of the whole message, for totals."""
    text: str = ""
    tools: tuple[ToolUse, ...] = ()
    stop_reason: str | None = None
    sidechain: bool = False
    """The message belongs to a subagent: it adds to the cost, but is not in the main context."""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class LastSaid:
    """The text of one of the main agent's last replies.

    A reader that leaves the texts out of `AssistantReplied` sends these events, oldest first.
    """

    text: str


@dataclass(frozen=True, slots=True)
class UserSaid:
    """A prompt of the user or of the program that started the session; never a tool's result."""

    text: str
    meta: bool = False
    """Written by the CLI (hook feedback, caveats), not by the user."""
    compact_summary: bool = False
    sidechain: bool = False
    at: datetime | None = None
    command: str = ""
    """If the prompt is a slash command that gives the agent work: the command and its arguments."""
    shell: str = ""
    """The command that the user ran in the CLI's shell mode, or the output of such a command."""


@dataclass(frozen=True, slots=True)
class PromptQueued:
    """A prompt that the user wrote during a turn, and that the model got in the same turn."""

    text: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Titled:
    """The session's title, written by a model or by the user."""

    text: str


@_frequent
class ToolFinished:
    """A tool call returned."""

    tool_use_id: str
    """The id of the call; empty for a notice that names only the subagent or background task (see
    `agent_id`)."""
    failed: bool = False
    text: str = ""
    """Beginning of the tool's output; maximum 2,000 characters."""
    tail: str = ""
    """End of the output, if `text` ends earlier; maximum 1,000 characters."""
    exit: int | None = None
    """The exit status of a command, if the transcript has it."""
    refused: bool = False
    """The user refused the call."""
    refusal: str = ""
    """The user's text with the refusal."""
    interrupted: bool = False
    """The call was interrupted, or did not run, and has no result of its own."""
    empty: bool = False
    """The CLI says that the call printed nothing. False if the transcript does not say so."""
    answers: tuple[tuple[str, str], ...] = ()
    """If the tool asked the user: each question with its answer."""
    agent_id: str | None = None
    """The id of the subagent that the tool started; in a report of a background task, the
    task's id; in any other result, None."""
    agent_status: str | None = None
    """`running`, `completed`, `failed` or `stopped`, if `agent_id` is set."""
    task_id: str | None = None
    """If the command continues in the background: the task's id; else None."""
    task_log: str = ""
    """The file with the output of the background task."""
    task_until: datetime | None = None
    """When the CLI ends the background task by itself, if the transcript has the time limit."""
    sidechain: bool = False
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Compacted:
    """The CLI compacted the conversation; the token count is unknown until the next reply."""

    trigger: str = "auto"
    """`auto` or `manual`; empty if unknown, as in a transcript that has the trigger one line
    later."""
    pre_tokens: int | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The CLI recorded that a turn ended."""

    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The user interrupted the agent with Esc. Only the transcript reports this, no hook."""

    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ApiFailed:
    """A request to the API failed. The context is unchanged."""

    error: str
    status: int | None = None
    at: datetime | None = None
    resets_at: float | None = None
    """When the usage limit resets, if the error says so; unix seconds."""


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """A turn ended with an API error, in a CLI that has no hook for this."""

    error: ApiFailed


@dataclass(frozen=True, slots=True)
class TurnRecorded:
    """A turn began or ended, in a CLI whose transcript records this at once."""

    working: bool
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class CostCounted:
    """The cost of the session so far, in US dollars, as the CLI reports it."""

    total_usd: float


@dataclass(frozen=True, slots=True)
class ContextInjected:
    """A hook's response reached the model."""

    hook_event: str
    text: str


@dataclass(frozen=True, slots=True)
class PromptFileTaken:
    """The CLI added the content of a file to the latest prompt, which mentions the file."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class DocumentShown:
    """The model got the text of a Markdown file with "goal" in a heading, perhaps a handoff
    document."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class PlanRecorded:
    """The text of the session's plan, as the CLI recorded it."""

    text: str
    file: str = ""


@dataclass(frozen=True, slots=True)
class TodosRecorded:
    """The whole todo list, from a reminder of the CLI to the model."""

    items: tuple[tuple[str, str, str], ...]
    """Id, text and status of each item. The id is empty in the list of `TodoWrite`."""
    numbered: bool
    """Whether the items are tasks with ids, and not the list of `TodoWrite`."""


@dataclass(frozen=True, slots=True)
class InstructionsGiven:
    """The CLI gave an instruction file, such as `CLAUDE.md`, to the model."""

    path: str


@dataclass(frozen=True, slots=True)
class PullRequestLinked:
    """The CLI connected a pull request with the session."""

    url: str
    number: int | None = None
    repository: str = ""
    """The repository of the pull request, as `owner/name`; empty if unknown."""


@dataclass(frozen=True, slots=True)
class AwaySummarized:
    """The CLI summarised the session while the user was away."""

    text: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Identified:
    """The session's own data, such as its directory and model."""

    session_id: str | None = None
    cwd: str | None = None
    branch: str | None = None
    permission_mode: str | None = None
    model: str | None = None
    window: int | None = None
    compacts_at: int | None = None
    """Tokens at which the CLI compacts automatically, if the transcript says so."""


@dataclass(frozen=True, slots=True)
class LimitsReported:
    """The account's usage limits, from the transcript of a CLI that records them."""

    limits: tuple[RateLimit, ...]


SessionEvent = (
    AssistantReplied
    | LastSaid
    | UserSaid
    | PromptQueued
    | Titled
    | ToolFinished
    | Compacted
    | TurnEnded
    | Interrupted
    | ApiFailed
    | TurnFailed
    | TurnRecorded
    | CostCounted
    | ContextInjected
    | PromptFileTaken
    | DocumentShown
    | PlanRecorded
    | TodosRecorded
    | InstructionsGiven
    | PullRequestLinked
    | AwaySummarized
    | Identified
    | LimitsReported
)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A line that could not be read: incomplete, binary, too large, or of an unknown form."""

    reason: Literal["torn", "not-json", "not-a-record", "too-long", "too-many-values", "fault"]
    reading: bool = False
    """Whether the line may be a reply or a compaction. If so, the token count is unknown until the
    next reply."""
    detail: str = ""
    """If `reason` is `fault` (see `core.own_record`): the error in the line."""
