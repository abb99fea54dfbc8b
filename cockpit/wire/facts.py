"""`GET /v1/facts/NAME` and `cockpit facts --json`, as `core.session_report` writes them.

An unknown value is null, never 0. Fields may be added; none is renamed.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from cockpit.wire.status import Wire


class Todo(Wire):
    content: str
    status: str


class Commit(Wire):
    hash: str
    subject: str


class SubagentFacts(Wire):
    id: str
    type: str
    status: str
    task: str


class BackgroundFacts(Wire):
    """A background task that the session started."""

    id: str
    type: str
    status: str
    description: str = ""
    command: str = ""
    log: str | None = None


class UsageContext(Wire):
    tokens: int | None = None
    window: int | None = None
    used: float | None = None
    """Share of the window that is used; can exceed 1."""
    confidence: Literal["reported", "derived", "assumed", "unknown"] = "unknown"
    source: Literal["transcript"] | None = None


class UsageTotals(Wire):
    """Tokens of all replies of a session; each reply is counted once."""

    input: int
    cache_creation: int
    cache_read: int
    output: int


class Usage(Wire):
    """The context use and token totals of one transcript."""

    transcript: str
    session_id: str | None = None
    model: str | None = None
    context: UsageContext = Field(default_factory=UsageContext)
    compactions: int | None = None
    api_calls: int | None = None
    totals: UsageTotals | None = None
    skipped_lines: int | None = None
    subagent: bool | None = None
    """Whether the transcript is a subagent's own."""
    error: str | None = None
    """Why the transcript could not be read; null if it could."""


class SessionFacts(Wire):
    """The facts of a session, from its transcript and git."""

    goal: str | None = None
    todos: list[Todo] = Field(default_factory=list)
    files_modified: list[str] = Field(default_factory=list)
    commits: list[Commit] = Field(default_factory=list)
    git_status: str | None = None
    """The lines of `git status`; empty for a clean worktree."""
    branch: str | None = None
    head: str | None = None
    subagents: list[SubagentFacts] = Field(default_factory=list)
    background: list[BackgroundFacts] = Field(default_factory=list)
    recent_activity: list[str] = Field(default_factory=list)
    usage: Usage
