"""What a client may ask of the supervisor: one model a verb, `POST /v1/<verb>` each.

A verb has this one name here, in `supervisor/api/verbs.py`, in `client/`, in `cli/` and in the
tests. Reading goes by GET: `/v1/status`, `/v1/events?after=N&follow=1` (JSON lines),
`/v1/watch?beat=SECONDS` (JSON lines of `wire.stream`; with `beat` an empty line after each such
silence, for a client whose connection may die unheard), `/v1/screen/NAME` (JSON lines of `Screen`),
`/v1/history?name=NAME&search=WORDS` (a list of chains; without `search`, `limit=N&before=JOB` gives
a page of the newest jobs and `handoffs=N&before=HANDOFF` one of the newest handoffs, each a
`wire.history.HistoryPage`), `/v1/document/ID`, `/v1/continuation/NAME`, `/v1/facts/NAME`,
`/v1/course/NAME`, `/v1/diff/NAME?since=job`.
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
    prompt: str | None = None
    directory: str | None = None
    """Absolute: a client resolves it against its own directory."""
    cwd: str | None = None
    """The client's own directory, absolute: where a new agent works if none is said."""
    runtime: str | None = None
    worktree: bool = False
    resume: str | None = None
    """Open this session instead of a new one; `last` is the one that the agent had last."""
    config: str | None = None
    """The project or `--config` file to read first, absolute."""
    named: bool = False
    """The user named that file on the command line, and so trusts it; else it was found."""
    mode: Literal["observe", "prompt", "auto"] | None = None


class Resume(Verb):
    """Reopen every agent that was running when the machine, or the tmux server, ended."""

    verb: ClassVar[str] = "resume"
    name: str | None = None
    """Only this agent."""
    prompt: str | None = None
    """Sent to each agent that comes back; None sends nothing."""
    dry_run: bool = False
    """Answer who was running and who cannot come back; do nothing."""


class Plan(Start):
    """What `Start` would do with the same words, or why not; nothing is done."""

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
    """Do not wait for a turn boundary; the review stays."""
    by_agent: bool = False
    """Asked from inside the agent's own pane."""
    dry_run: bool = False
    """Answer what would be done and with which facts; do nothing."""


class Approve(Verb):
    """Say yes to the question that stands."""

    verb: ClassVar[str] = "approve"
    name: str
    straight: bool = False
    """Also to the review that would follow."""
    handoff: str | None = None
    """Only if this handoff still stands: what the user saw when the key was pressed."""
    sha256: str | None = None
    """Only if the document under review is still this one: of its bytes, in hexadecimal."""


class Refuse(Verb):
    """Say no to the question that stands; the agent goes on."""

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
    """Instead of a time: when so much more of the window is used, or the force mark is reached."""
    handoff: str | None = None


class Finish(Verb):
    """Say for the agent that its job is done."""

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
    """None: as the document's agent, with a number if that is taken."""
    directory: str | None = None
    """Absolute; None: where the document was left."""
    config: str | None = None
    """As for `Start`."""
    named: bool = False


class Down(Verb):
    """End the supervisor; with `agents`, the agents and the tmux server too."""

    verb: ClassVar[str] = "down"
    agents: bool = False


class Load(Verb):
    """Read a configuration file and take up its agents."""

    verb: ClassVar[str] = "load"
    config: str | None = None
    named: bool = False
    """As for `Start`."""


class Attach(Verb):
    """Where the agent's pane is, for a client that shows it."""

    verb: ClassVar[str] = "attach"
    name: str


class RemoveWorktree(Verb):
    """Remove a worktree that cockpit has made; what is in it is kept under a reference."""

    verb: ClassVar[str] = "remove_worktree"
    tree: str
    """An agent's name, or a path (absolute)."""
    cwd: str | None = None
    """The client's own directory: its repository is looked in too."""
    salvage: bool = False
    """Remove it although there is work in it: that work is kept under the reference."""
    salvage_only: bool = False
    """Keep what is in it, and remove nothing."""
    leave_out: list[str] = Field(default_factory=list)
    """Ignored files and folders that are given up."""
    pid: int | None = None
    """The client itself, on the supervisor's machine: it is no obstacle, its shell is told so."""


VERBS: tuple[type[Verb], ...] = (
    Start, Resume, Plan, Stop, Send, Handoff, Approve, Refuse, Snooze, Finish, Undo, Continue, Down,
    Load, Attach, RemoveWorktree,
)  # fmt: skip


class Done(Wire):
    """What a verb answers when it went well."""

    message: str
    """One line for the user."""
    name: str | None = None
    pane: str | None = None
    socket: str | None = None
    """Of the tmux server, where the answer is about a pane."""
    document: str | None = None
    text: str | None = None
    """Longer, for `--dry-run`."""


class Refusal(Wire):
    """What a verb answers when it did not: an error of `core.errors`, as data."""

    exit_code: int
    title: str
    detail: str = ""
    hint: str = ""
