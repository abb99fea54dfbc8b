"""What can be told of a session without asking any model: the facts of a handoff document."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Todo:
    """One item of the agent's own list, exactly as last written."""

    content: str
    status: str
    """`pending`, `in_progress` or `completed`, or whatever the agent wrote."""


@dataclass(frozen=True, slots=True)
class CommitMade:
    """A commit that a tool call of the session made, as its output told."""

    hash: str
    subject: str


@dataclass(frozen=True, slots=True)
class Subagent:
    """An agent that the session started."""

    id: str
    type: str
    status: str
    """`running`, `completed`, `failed` or `unknown`."""
    task: str


@dataclass(frozen=True, slots=True)
class BackgroundTask:
    """Something the session left running while its turn goes on or is over."""

    id: str
    type: str = "shell"
    """`shell`, `subagent`, `monitor`, `workflow`, or whatever the CLI calls it."""
    description: str = ""
    command: str = ""
    """Of a shell: its command line, as the CLI reports it."""
    log: str = ""
    """Of a shell: the file its output goes to."""
    status: str = "running"
    """`running`, `completed`, `failed` or `stopped`; `ended` where nobody said how."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that one session's record says, git aside."""

    goal: str | None = None
    """The first prompt, verbatim."""
    todos: tuple[Todo, ...] = ()
    files_modified: tuple[str, ...] = ()
    """In the order of first change, as the tools named them."""
    commits: tuple[CommitMade, ...] = ()
    subagents: tuple[Subagent, ...] = ()
    background: tuple[BackgroundTask, ...] = ()
    """What it started in the background, subagents aside, oldest first."""
    recent_activity: tuple[str, ...] = ()
    """The last five tool calls, oldest first, one line each."""
    last_reply: str | None = None
    """The last text the agent wrote, for a document that no model writes."""
    compactions: int = 0
