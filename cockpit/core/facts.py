"""Facts about a session, from its transcript and git, without a model."""

from __future__ import annotations

from typing import Literal

from cockpit.core.deferred_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Todo:
    """One item of the agent's todo list, as last written."""

    content: str
    status: str
    """`pending`, `in_progress`, `completed`, or another word that the agent wrote."""


@dataclass(frozen=True, slots=True)
class CommitMade:
    """A commit of the session, from the output of a command in the session, or from git."""

    hash: str
    subject: str
    pushed: bool | None = None
    """Whether a remote branch has the commit, as far as git knows locally; None if unknown."""


@dataclass(frozen=True, slots=True)
class Subagent:
    """A subagent that the session started."""

    id: str
    type: str
    status: str
    """`running`, `completed`, `failed` or `stopped`."""
    task: str
    result: str = ""
    """The beginning of the subagent's final report."""


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
    """`running`, `completed`, `failed` or `stopped`; `ended` if the result is unknown; `unknown`
    for a command that a shell started with `&`, because the CLI does not track such commands."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt of the user in the main conversation."""

    turn: int
    """Number of the prompt in the session, from 1."""
    text: str
    queued: bool = False
    """Whether the user wrote the prompt while the agent was working, for the same turn."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """A standing order or a correction in a prompt of the user, word for word."""

    turn: int
    text: str
    """The sentence with the order or correction."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The user's answer to a question that the agent asked with a tool."""

    turn: int
    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class ToolRefusal:
    """A tool call that the user refused."""

    turn: int
    call: str
    """The refused call, described in one line."""
    reason: str = ""
    """The user's text with the refusal; empty if there was none."""


@dataclass(frozen=True, slots=True)
class Check:
    """The last run of a command that tests, lints or builds."""

    kind: Literal["test", "lint", "build"]
    command: str
    failed: bool | None = None
    """Whether the check failed; None if the transcript does not show the result, as for
    `pytest | tail` without a result line."""
    exit: int | None = None
    """The exit status of the check itself; None if the transcript does not have it."""
    result: str = ""
    """The line of the output with the counts, such as `12 passed`; empty if there is none."""
    edited_since: bool = False
    """Whether a file was changed after the command was started: with a tool of the CLI, or with a
    command such as `sed -i`."""
    turn: int = 0


@dataclass(frozen=True, slots=True)
class Failure:
    """A tool call that failed."""

    call: str
    """The failed call, described in one line."""
    error: str
    """The first line of the output that looks like an error, else the first line."""
    worked: str = ""
    """The next call of the same kind that succeeded, in one line; empty if there was none."""
    turn: int = 0
    after: str = ""
    """If the same command succeeded later: the last command or edit before that success, in one
    line; else empty."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The last plan that the agent presented to the user or wrote to a plan file."""

    text: str
    file: str = ""
    """The file with the plan; empty if unknown."""
    approved: bool | None = None
    """Whether the user approved the plan; None if the user did not answer."""
    turn: int = 0


@dataclass(frozen=True, slots=True)
class Link:
    """A pull request or an issue that the session worked on."""

    kind: Literal["pull_request", "issue"]
    url: str
    """The URL; empty if the transcript only has the number."""
    number: int | None = None
    repository: str = ""
    """The repository, as `owner/name`; empty if unknown."""
    state: str = ""
    """`open`, `draft`, `merged` or `closed`, as last seen in the transcript; empty if unknown."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary with which the CLI replaced the conversation in the last compaction."""

    turn: int
    """Number of the user's last prompt before the compaction."""
    text: str


@dataclass(frozen=True, slots=True)
class Facts:
    """All facts about one session, from its transcript; `commits` can also be from git."""

    goal: str | None = None
    """The user's goal, word for word; see `Collector.goal`. None if unknown."""
    todos: tuple[Todo, ...] = ()
    files_modified: tuple[str, ...] = ()
    """Paths of changed files, as in the tool calls, in the order of the first change."""
    commits: tuple[CommitMade, ...] = ()
    quiet_commits: tuple[str, ...] = ()
    """Subjects of commits that are not in `commits`, but may be on the branch. See
    `CommitCollector.quiet`."""
    subagents: tuple[Subagent, ...] = ()
    background: tuple[BackgroundTask, ...] = ()
    """Background tasks other than subagents, oldest first."""
    recent_activity: tuple[str, ...] = ()
    """The main agent's last five tool calls, oldest first, one line each. Changes of drafts and of
    temporary files are left out."""
    last_reply: str | None = None
    """The last text that the agent wrote; None before the first."""
    longer_reply: str | None = None
    """If `last_reply` is short: a longer text that the agent wrote shortly before `last_reply`;
    else None."""
    compactions: int = 0
    away_summary: str | None = None
    """The CLI's own summary of the session, written while the user was away. None without one, and
    after a later prompt."""
    prompts: tuple[Prompt, ...] = ()
    """The last prompts of the user, oldest first."""
    earlier_prompts: tuple[Prompt, ...] = ()
    """The beginnings of the prompts between the first prompt and `prompts`, oldest first."""
    constraints: tuple[Constraint, ...] = ()
    """The user's last standing orders and corrections, oldest first."""
    answers: tuple[Answer, ...] = ()
    """The user's last answers to the agent's questions, oldest first."""
    refusals: tuple[ToolRefusal, ...] = ()
    """The last tool calls that the user refused, oldest first."""
    checks: tuple[Check, ...] = ()
    """The last check of each kind (test, lint, build), oldest first."""
    failures: tuple[Failure, ...] = ()
    """The last failed calls, oldest first."""
    plan: Plan | None = None
    links: tuple[Link, ...] = ()
    """Pull requests and issues, in the order of their first mention."""
    summary: Summary | None = None
    instructions: tuple[str, ...] = ()
    """Paths of the instruction files that the CLI gave to the model, such as `CLAUDE.md`."""
    most_read: tuple[tuple[str, int], ...] = ()
    """The files that the session read most often, at least twice, with the number of reads; most
    read first."""
