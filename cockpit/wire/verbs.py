"""The requests of clients to the supervisor: one model for each verb, sent as `POST /v1/<verb>`.

A verb has the same name in `supervisor/api/verbs/`, `client/`, `cli/` and the tests. What is read
with GET is in `wire.views`.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from cockpit.wire.status import Wire


class Verb(Wire):
    verb: ClassVar[str]


class Start(Verb):
    """Start a configured agent, or a new one."""

    verb: ClassVar[str] = "start"
    name: str
    """Begins with a letter or digit; then at most 31 of `a-z`, `0-9`, `.`, `_` and `-`."""
    prompt: str | None = None
    directory: str | None = None
    """Absolute; the client resolves it against its own directory."""
    cwd: str | None = None
    """The client's own directory, absolute: the default for a new agent."""
    runtime: str | None = None
    worktree: bool = False
    resume: str | None = None
    """Reopen this session instead of starting a new one; `last` is the agent's last session."""
    config: str | None = None
    """The project or `--config` file to read first, absolute."""
    named: bool = False
    """The user named that file on the command line, and so trusts it."""
    mode: Literal["observe", "prompt", "auto"] | None = None


class Resume(Verb):
    """Reopen every agent that was running when the machine, or the tmux server, ended."""

    verb: ClassVar[str] = "resume"
    name: str | None = None
    """Only this agent."""
    prompt: str | None = None
    """Sent to each reopened agent; None sends nothing."""
    dry_run: bool = False
    """Only list the agents that were running, and which of them cannot be reopened."""


class Plan(Start):
    """Say what `Start` would do with the same arguments, or why it would fail; do nothing."""

    verb: ClassVar[str] = "plan"


class Stop(Verb):
    """End an agent; its worktree stays."""

    verb: ClassVar[str] = "stop"
    name: str


class Send(Verb):
    """Paste a prompt into the live composer and submit it."""

    verb: ClassVar[str] = "send"
    name: str
    text: str


class Handoff(Verb):
    """Ask for a handoff."""

    verb: ClassVar[str] = "handoff"
    name: str
    document: str | None = None
    """A document that is already written, absolute."""
    now: bool = False
    """Do not wait for the end of the turn; the review stays."""
    to: str | None = None
    """The runtime of the new session; None for the one that the settings say."""
    model: str | None = None
    """The model of the new session; None for its CLI's usual one."""
    handoff: str | None = None
    """Only to approve this open question: the one that the user saw."""
    by_agent: bool = False
    """The request comes from the agent's own pane."""
    dry_run: bool = False
    """Only say what would be done, with which facts."""


class Approve(Verb):
    """Approve the agent's handoff."""

    verb: ClassVar[str] = "approve"
    name: str
    straight: bool = False
    """Approve and skip the review."""
    handoff: str | None = None
    """Only if this is still the handoff that is asked about: the one that the user saw."""
    sha256: str | None = None
    """Only if the document under review has this SHA-256, in hexadecimal."""


class Refuse(Verb):
    """Refuse the agent's handoff; its session continues."""

    verb: ClassVar[str] = "refuse"
    name: str
    handoff: str | None = None
    compact: bool = False
    """Let the CLI compact: do not ask again before it did."""


class Snooze(Verb):
    """Ask again later."""

    verb: ClassVar[str] = "snooze"
    name: str
    seconds: float = Field(default=600, gt=0)
    percent: float | None = Field(default=None, gt=0, le=100)
    """Instead of a time: ask again at so much more of the window, or at the force mark."""
    handoff: str | None = None


class Finish(Verb):
    """Mark the agent's job as done."""

    verb: ClassVar[str] = "done"
    name: str


class Undo(Verb):
    """Reopen the previous session."""

    verb: ClassVar[str] = "undo"
    name: str


class Continue(Verb):
    """Start a new agent from a handoff document."""

    verb: ClassVar[str] = "continue"
    document: str
    """Absolute."""
    name: str | None = None
    """None: the name of the document's agent, with a number if that is taken."""
    directory: str | None = None
    """Absolute; None: the directory that the document names."""
    config: str | None = None
    """As for `Start`."""
    named: bool = False


class Adopt(Verb):
    """End a session that cockpit did not start, and reopen it as a new agent."""

    verb: ClassVar[str] = "adopt"
    session: str
    """Its id, or the first characters of it."""
    pid: int | None = None
    """Only if this process has it open: the one that the user saw."""
    name: str | None = None
    """Of the new agent; None: the name of the directory, with a number if that is taken."""
    asker: int | None = None
    """Set by the supervisor: the process that asks, which must not run inside the session."""


class Down(Verb):
    """End the supervisor; with `agents`, the agents and the tmux server too."""

    verb: ClassVar[str] = "down"
    agents: bool = False


class Load(Verb):
    """Read a configuration file and use its agents."""

    verb: ClassVar[str] = "load"
    config: str | None = None
    named: bool = False
    """As for `Start`."""


class Attach(Verb):
    """Return the agent's pane, for a client that shows it."""

    verb: ClassVar[str] = "attach"
    name: str


class RemoveWorktree(Verb):
    """Remove a worktree that cockpit created; its content is kept under a reference."""

    verb: ClassVar[str] = "remove_worktree"
    tree: str
    """An agent's name, or a path (absolute)."""
    cwd: str | None = None
    """The client's own directory: its repository is searched too."""
    salvage: bool = False
    """Remove it even if it has unsaved work, which is kept under the reference."""
    salvage_only: bool = False
    """Keep its content under a reference, and do not remove it."""
    leave_out: list[str] = Field(default_factory=list)
    """Ignored files and folders that are not kept."""
    pid: int | None = None
    """The client's pid, on the supervisor's machine: that process does not block the removal."""


VERBS: tuple[type[Verb], ...] = (
    Start, Resume, Plan, Stop, Send, Handoff, Approve, Refuse, Snooze, Finish, Undo, Continue, Down,
    Load, Attach, RemoveWorktree, Adopt,
)  # fmt: skip


class Done(Wire):
    """The answer of a verb on success."""

    message: str
    """One line for the user."""
    name: str | None = None
    pane: str | None = None
    socket: str | None = None
    """The tmux server's socket, if the answer is about a pane."""
    document: str | None = None
    text: str | None = None
    """A longer text, for `--dry-run`."""


class InvalidValue(Wire):
    """A value of a request that is not valid."""

    pointer: str | None = None
    """A value of the body, as a JSON pointer: `#/name`."""
    parameter: str | None = None
    """Or a parameter of the address."""
    detail: str


class Refusal(Wire):
    """Why a request failed: a problem document (RFC 9457).

    The first version sent `exit_code`, `title`, `detail` and `hint` only.
    """

    type: str = "about:blank"
    """The kind of problem; it never changes, unlike the sentences."""
    status: int | None = None
    """The HTTP status of the answer."""
    title: str
    detail: str = ""
    hint: str = ""
    """What to do about it."""
    exit_code: int
    """Of the command line for the same error: 1 failed, 2 bad usage, 3 no such agent, 4 no
    supervisor, 5 not now, 6 a program is missing."""
    instance: str | None = None
    """Names this one occurrence in the log, if it is an error of cockpit itself."""
    errors: list[InvalidValue] = Field(default_factory=list)
    """The values that are not valid, if the request can be read at all."""
