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
    """The command line of a shell task, as the CLI reports it."""
    log: str = ""
    """The file with the output of a shell task."""
    status: str = "running"
    """`running`, `completed`, `failed` or `stopped`; `ended` if the result is unknown."""


@dataclass(frozen=True, slots=True)
class Facts:
    """All facts in one session's transcript."""

    goal: str | None = None
    """The first prompt, word for word."""
    todos: tuple[Todo, ...] = ()
    files_modified: tuple[str, ...] = ()
    """Paths of changed files, as in the tool calls, in the order of the first change."""
    commits: tuple[CommitMade, ...] = ()
    subagents: tuple[Subagent, ...] = ()
    background: tuple[BackgroundTask, ...] = ()
    """Background tasks without subagents, oldest first."""
    recent_activity: tuple[str, ...] = ()
    """The last five tool calls, oldest first, one line each."""
    last_reply: str | None = None
    """The last text that the agent wrote; used by the facts writer."""
    compactions: int = 0
