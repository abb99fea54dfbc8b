"""Facts about a session, from its transcript and without a model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Todo:
    """One item of the agent's todo list, as last written."""

    content: str
    status: str
    """`pending`, `in_progress`, `completed`, or another word that the agent wrote."""


@dataclass(frozen=True, slots=True)
class CommitMade:
    """A commit that a tool call of the session made, read from the tool's output."""

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
    """A task that the session started in the background."""

    id: str
    type: str = "shell"
    """`shell`, `subagent`, `monitor`, `workflow`, or another name that the CLI uses."""
    description: str = ""
    command: str = ""
    """Of a shell: its command line, as the CLI reports it."""
    log: str = ""
    """Of a shell: the file its output goes to."""
    status: str = "running"
    """`running`, `completed`, `failed` or `stopped`; `ended` if it is not known how."""


@dataclass(frozen=True, slots=True)
class Facts:
    """All facts in one session's transcript."""

    goal: str | None = None
    """The first prompt, verbatim."""
    todos: tuple[Todo, ...] = ()
    files_modified: tuple[str, ...] = ()
    """In the order of first change, as the tools named them."""
    commits: tuple[CommitMade, ...] = ()
    subagents: tuple[Subagent, ...] = ()
    background: tuple[BackgroundTask, ...] = ()
    """Background tasks without subagents, oldest first."""
    recent_activity: tuple[str, ...] = ()
    """The last five tool calls, oldest first, one line each."""
    last_reply: str | None = None
    """The last text that the agent wrote; used by the facts writer."""
    compactions: int = 0
