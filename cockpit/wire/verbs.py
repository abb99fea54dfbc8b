"""The requests of clients to the supervisor: one model for each verb, sent as `POST /v1/<verb>`.

`performers` in `supervisor/serving.py` has the handler of each verb. Requests that only read (GET)
are in `wire.views`. CONTRIBUTING.md lists every place that a new verb needs.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from cockpit.wire.history import HistoryChain
from cockpit.wire.status import Wire


class Verb(Wire):
    verb: ClassVar[str]


class Start(Verb):
    """Start a configured agent, or a new agent."""

    verb: ClassVar[str] = "start"
    name: str
    """Name of the agent: a letter or digit, then at most 31 of `a-z`, `0-9`, `.`, `_` and `-`."""
    prompt: str | None = None
    directory: str | None = None
    """Directory of the agent, as an absolute path; null for the configured directory."""
    cwd: str | None = None
    """The client's working directory, as an absolute path: the default directory of a new agent."""
    runtime: str | None = None
    worktree: bool = False
    resume: str | None = None
    """Reopen this session instead of starting a new one; `last` is the agent's last session."""
    config: str | None = None
    """Absolute path of the project's configuration file or the `--config` file, which the
    supervisor reads before the start."""
    named: bool = False
    """True if the user named the file `config` on the command line; all its settings then apply."""
    mode: Literal["observe", "prompt", "auto"] | None = None
    command: list[str] | None = None
    """A program and its arguments, to run as a plain command; the runtime is then `command`.
    Refused in a request from an agent."""
    force: bool = False
    """Reopen a session although its job was moved to another machine."""
    apart: bool = False
    """Read only this agent, and the custom runtimes, from `config`. No other agent or setting
    changes, and the supervisor does not read `config` again."""


class Resume(Verb):
    """Reopen every agent that a reboot or a tmux exit interrupted."""

    verb: ClassVar[str] = "resume"
    name: str | None = None
    """The agent to reopen; null for every interrupted agent."""
    prompt: str | None = None
    """A prompt for each reopened agent; null sends nothing."""
    dry_run: bool = False
    """Only list the interrupted agents, and say which of them cannot be reopened."""


class Plan(Start):
    """Describe what `start` would do, or why `start` would fail. Changes nothing."""

    verb: ClassVar[str] = "plan"


class Stop(Verb):
    """End an agent. The agent's worktree stays."""

    verb: ClassVar[str] = "stop"
    name: str


class Send(Verb):
    """Paste a prompt into the agent's prompt box, and press Enter."""

    verb: ClassVar[str] = "send"
    name: str
    text: str


class Answer(Verb):
    """Answer the permission dialog or question that is open in the agent's pane.

    Only the user can answer: not an agent, and not a hook.
    """

    verb: ClassVar[str] = "answer"
    name: str
    dialog: str
    """The `identity` of the dialog that the user saw (`GET /v1/dialog/NAME`). If another dialog is
    open, the request fails."""
    choices: list[int]
    """Numbers of the choices, from 1.

    Exactly one number, unless the choices have boxes; then the boxes to check, perhaps none.
    """
    text: str = ""
    """The text for a choice that takes text. Line breaks become spaces."""


class Handoff(Verb):
    """Request a handoff of the agent's job, or approve the one that cockpit is asking about."""

    verb: ClassVar[str] = "handoff"
    name: str
    document: str | None = None
    """Absolute path of a document that is already written."""
    now: bool = False
    """Interrupt the turn instead of waiting for its end. Does not skip the review."""
    to: str | None = None
    """The runtime of the new session; null for the runtime in the settings."""
    model: str | None = None
    """The model of the new session; null for the model of the old session, or, in
    another CLI, for the configured model or that CLI's default."""
    handoff: str | None = None
    """The id of the handoff whose question the user answers. The request fails unless that handoff
    is in progress."""
    by_agent: bool = False
    """True if the request comes from the agent's own pane."""
    dry_run: bool = False
    """Only describe what would be done, and show the facts."""
    host: str | None = None
    """The user's name for the machine on which the job is to continue; null for this machine. This
    machine keeps the session until `moved` reports that the new session has replied. `to` then only
    names the CLI for which the document is written; the other machine checks whether it has that
    CLI."""


class Moved(Verb):
    """End the session of a job that now continues on another machine.

    The client sends this request after the first reply of the new session on the other machine. The
    handoff must be in phase `moving`. With `arrived`, the client sends the request to the other
    machine: the old session has ended, so that machine marks the handoff as done, and ends nothing.
    """

    verb: ClassVar[str] = "moved"
    name: str
    handoff: str
    """The id of the handoff with which the job was moved."""
    arrived: bool = False
    """Whether the agent continues the moved job; false for the agent whose job was moved away."""


class Approve(Verb):
    """Approve the agent's handoff."""

    verb: ClassVar[str] = "approve"
    name: str
    straight: bool = False
    """Approve and skip the review."""
    handoff: str | None = None
    """Only approve the handoff with this id: the handoff that the user saw."""
    sha256: str | None = None
    """Only approve a document with this SHA-256, in hexadecimal."""
    by: str = ""
    """Set by the supervisor: the user who approves, such as `ana@laptop`."""


class Refuse(Verb):
    """Refuse the agent's handoff; the old session continues.

    If the new session has started and has not replied yet, ends it and reopens the old session.
    """

    verb: ClassVar[str] = "refuse"
    name: str
    handoff: str | None = None
    compact: bool = False
    """Let the CLI compact, and do not ask again before the compaction."""
    by: str = ""
    """Set by the supervisor: the user who refuses, such as `ana@laptop`."""


class Snooze(Verb):
    """Ask about the handoff again later."""

    verb: ClassVar[str] = "snooze"
    name: str
    seconds: float = Field(default=600, ge=0)
    """Seconds until cockpit asks again. 0: ask at once, which ends an earlier snooze."""
    percent: float | None = Field(default=None, gt=0, le=100)
    """Instead of a time: ask again when this additional percentage of the window is used, or at the
    force threshold."""
    handoff: str | None = None


class Finish(Verb):
    """Mark the agent's job as done."""

    verb: ClassVar[str] = "done"
    name: str


class Forget(Verb):
    """Remove an ended agent from the list. Its history, documents and worktree stay."""

    verb: ClassVar[str] = "forget"
    name: str


class Rename(Verb):
    """Rename an ended agent. Its history is kept; its worktree and branch keep their names."""

    verb: ClassVar[str] = "rename"
    name: str
    to: str
    """The new name, in the form of `Start.name`, without a host."""


class Undo(Verb):
    """End the agent's current session, and reopen the session before it."""

    verb: ClassVar[str] = "undo"
    name: str
    by: str = ""
    """Set by the supervisor: the user who asks for it, such as `ana@laptop`."""


class Continue(Verb):
    """Start an agent from a handoff document."""

    verb: ClassVar[str] = "continue"
    document: str
    """Path of the document, absolute."""
    name: str | None = None
    """Name of a new or ended agent. Null: the name of the agent that the document is from, with a
    number if the name is taken."""
    directory: str | None = None
    """Directory of the agent, as an absolute path; null for the directory in the document."""
    runtime: str | None = None
    """The CLI of the agent; null for the configured CLI."""
    moved_from: str | None = None
    """The machine from which the job was moved, by the user's name for it; null for a document of
    this machine."""
    handoff: str | None = None
    """The id of the handoff with which the job was moved."""
    chain: HistoryChain | None = None
    """The history of the moved job on the machine `moved_from`. The new session continues this
    chain."""
    config: str | None = None
    """Absolute path of the project's configuration file or the `--config` file, which the
    supervisor reads before the start."""
    named: bool = False
    """As in `Start`."""


class Adopt(Verb):
    """End a session that cockpit did not start, and reopen it as a new agent."""

    verb: ClassVar[str] = "adopt"
    session: str
    """The id of the session, or its first characters."""
    pid: int | None = None
    """Only adopt the session if this process has it open: the process that the user saw."""
    name: str | None = None
    """Name of the new agent. Null: the name of the session's directory, with a number if the name
    is taken."""
    asker: int | None = None
    """Set by the supervisor: the calling process, which must not run inside the session."""


class WatchSession(Verb):
    """Notify the user when the context of a session that cockpit did not start passes `act`.

    cockpit only reads the session, until the session's process ends, even after `/clear`.
    """

    verb: ClassVar[str] = "watch_session"
    session: str
    """The id of the session, or its first characters."""
    pid: int | None = None
    """Only watch the session if this process has it open: the process that the user saw."""
    stop: bool = False
    """Stop watching the session."""
    asker: int | None = None
    """Set by the supervisor: the calling process, which must not run inside the session."""


class DocumentSession(Verb):
    """Let a copy of a session that cockpit did not start write the session's handoff document.

    cockpit only reads the session itself. The response is sent when the document is written.
    """

    verb: ClassVar[str] = "document_session"
    session: str
    """The id of the session, or its first characters."""
    pid: int | None = None
    """Only write the document if this process has the session open: the process that the user
    saw."""
    asker: int | None = None
    """Set by the supervisor: the calling process, which must not run inside the session."""


class Down(Verb):
    """End the supervisor; with `agents`, the agents and the tmux server too."""

    verb: ClassVar[str] = "down"
    agents: bool = False


class Load(Verb):
    """Read a configuration file, update its agents, and start those with `start = "auto"`."""

    verb: ClassVar[str] = "load"
    config: str | None = None
    named: bool = False
    """True if the user named the file on the command line; all its settings then apply."""


class Attach(Verb):
    """Return the agent's pane, so that the client can show it."""

    verb: ClassVar[str] = "attach"
    name: str


class RemoveWorktree(Verb):
    """Remove a worktree that cockpit created, after saving its content under a git reference."""

    verb: ClassVar[str] = "remove_worktree"
    tree: str
    """The name of an agent, or the absolute path of a worktree."""
    cwd: str | None = None
    """The client's working directory, whose repository is searched too."""
    salvage: bool = False
    """Remove the worktree even if it has unsaved work, which is then saved under a git
    reference."""
    salvage_only: bool = False
    """Save the worktree's content under a git reference, and do not remove the worktree."""
    leave_out: list[str] = Field(default_factory=list)
    """Names of ignored files and folders that are not saved."""
    pid: int | None = None
    """The client's pid, if the client runs on the supervisor's machine; this process does not block
    the removal."""


VERBS: tuple[type[Verb], ...] = (
    Start, Resume, Plan, Stop, Send, Answer, Handoff, Approve, Refuse, Snooze, Finish, Undo,
    Continue, Down, Load, Attach, RemoveWorktree, Adopt, WatchSession, DocumentSession, Forget,
    Rename, Moved,
)  # fmt: skip


class Done(Wire):
    """The response to a verb on success."""

    message: str
    """One line for the user."""
    name: str | None = None
    pane: str | None = None
    socket: str | None = None
    """Path of the tmux server's socket, if the response is about a pane; else null."""
    document: str | None = None
    text: str | None = None
    """A longer text, such as the result of `--dry-run`; null without one."""


class InvalidValue(Wire):
    """An invalid value in a request."""

    pointer: str | None = None
    """The place of an invalid value in the body, as a JSON pointer: `#/name`."""
    parameter: str | None = None
    """The name of an invalid query parameter."""
    detail: str


class Refusal(Wire):
    """Why a request failed, as a problem document (RFC 9457).

    The first version sent `exit_code`, `title`, `detail` and `hint` only.
    """

    type: str = "about:blank"
    """The kind of problem. Unlike the sentences, the names of kinds never change."""
    status: int | None = None
    """The HTTP status of the response."""
    title: str
    detail: str = ""
    hint: str = ""
    """The next step for the user."""
    exit_code: int
    """The exit code of the command line for the same error: 1 failed, 2 bad usage, 3 no such agent,
    4 no supervisor, 5 not now, 6 a program is missing."""
    instance: str | None = None
    """For a bug in cockpit: the id of the entry in the supervisor's log."""
    errors: list[InvalidValue] = Field(default_factory=list)
    """The invalid values of a request; empty for other problems."""
