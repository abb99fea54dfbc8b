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
    pushed: bool | None = None
    """Whether a remote branch has the commit, by git's local data; null if unknown."""


class SubagentFacts(Wire):
    id: str
    type: str
    status: str
    task: str
    result: str | None = None
    """The beginning of the subagent's final report; null if unknown."""


class BackgroundFacts(Wire):
    """A background task that the session started."""

    id: str
    type: str
    status: str
    description: str = ""
    command: str = ""
    log: str | None = None


class PromptFacts(Wire):
    """A prompt of the user."""

    turn: int
    """Number of the prompt in the session, from 1."""
    text: str
    queued: bool = False
    """Whether the user wrote the prompt while the agent was working, for the same turn."""


class ConstraintFacts(Wire):
    """A standing order or a correction in a prompt of the user, word for word."""

    turn: int
    text: str


class AnswerFacts(Wire):
    """The user's answer to a question that the agent asked with a tool."""

    turn: int
    question: str
    answer: str


class RefusalFacts(Wire):
    """A tool call that the user refused."""

    turn: int
    call: str
    reason: str = ""
    """The user's text with the refusal; empty if there was none."""


class CheckFacts(Wire):
    """The last run of a command that tests, lints or builds."""

    kind: Literal["test", "lint", "build"]
    command: str
    failed: bool | None = None
    """Whether the check failed; null if the transcript does not show the result, as for
    `pytest | tail` without a result line."""
    exit: int | None = None
    """The exit status of the check itself; null if the transcript has none."""
    result: str = ""
    """The line of the output with the counts, such as `12 passed`; empty without such a line."""
    edited_since: bool = False
    """Whether a file was changed after the command was started: with a tool of the CLI, or with a
    command such as `sed -i`."""
    turn: int = 0


class FailureFacts(Wire):
    """A tool call that failed."""

    turn: int = 0
    call: str
    error: str
    """The first line of the error."""
    worked: str | None = None
    """The next call of the same kind that succeeded; null if there was none."""
    after: str | None = None
    """If the same command succeeded later: the last command or edit before the success; else null.
    """


class PlanFacts(Wire):
    """The last plan that the agent presented to the user or wrote to a plan file."""

    turn: int = 0
    text: str
    file: str | None = None
    approved: bool | None = None
    """Whether the user approved the plan; null if the user did not answer."""


class LinkFacts(Wire):
    """A pull request or an issue that the session worked on."""

    kind: Literal["pull_request", "issue"]
    url: str
    """The URL; empty if the transcript has only the number."""
    number: int | None = None
    repository: str | None = None
    state: str | None = None
    """`open`, `draft`, `merged` or `closed`, as last seen in the transcript; null if unknown."""


class SummaryFacts(Wire):
    """The summary with which the CLI replaced the conversation in the last compaction."""

    turn: int
    """Number of the user's last prompt before the compaction."""
    text: str


class LastReply(Wire):
    """The last texts of the session, by the agent and by the CLI."""

    text: str | None = None
    """The last text of the agent."""
    longer: str | None = None
    """If `text` is short: a longer text of the agent shortly before `text`; else null."""
    away_summary: str | None = None
    """The CLI's own summary of the session, written while the user was away."""


class StandingStatement(Wire):
    """A decision or a constraint of earlier sessions that is still valid."""

    section: str
    """The section of the documents that contains the statement."""
    text: str
    since: str
    """The first session whose document contains the statement."""
    last: str
    """The last session whose document contains the statement."""


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
    """Why the transcript could not be read; null if it was read."""


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
    prompts: list[PromptFacts] = Field(default_factory=list)
    """The last prompts of the user, oldest first."""
    earlier_prompts: list[PromptFacts] = Field(default_factory=list)
    """The beginnings of the prompts between the first prompt and those in `prompts`, oldest first.
    """
    constraints: list[ConstraintFacts] = Field(default_factory=list)
    answers: list[AnswerFacts] = Field(default_factory=list)
    refusals: list[RefusalFacts] = Field(default_factory=list)
    checks: list[CheckFacts] = Field(default_factory=list)
    """The last check of each kind."""
    failures: list[FailureFacts] = Field(default_factory=list)
    """The last failed calls, oldest first."""
    plan: PlanFacts | None = None
    links: list[LinkFacts] = Field(default_factory=list)
    summary: SummaryFacts | None = None
    last_reply: LastReply | None = None
    usage: Usage
    standing: list[StandingStatement] | None = None
    """The decisions and constraints of earlier sessions of the job that are still valid. Left out
    for an earlier session, and by `cockpit facts` of a file."""
