"""`GET /v1/status` and `cockpit status --json`.

An unknown value is null, never 0. Fields may be added; none is renamed.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

State = Literal[
    "starting",
    "working",
    "idle",
    "needs_you",
    "handing_off",
    "done",
    "stopped",
    "exited",
    "unknown",
]
NeedKind = Literal[
    "permission",
    "question",
    "handoff",
    "review",
    "trust",
    "usage_limit",
    "failed",
    "breaker",
    "resume",
]
BandName = Literal["calm", "notice", "warn", "act", "force", "unknown"]
Reason = Literal["threshold", "limit", "manual", "agent", "compaction", "loop"]
PhaseName = Literal[
    "asked", "waiting", "documenting", "review", "stopping", "starting", "confirming"
]


class Wire(BaseModel):
    """Base class of all messages. Immutable; ignores fields of a newer version.

    Rejects NaN and infinity, which JSON does not have.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class Needs(Wire):
    kind: NeedKind
    detail: str
    """A sentence for the user, with the next step."""
    since: str | None = None
    """When the agent began to wait; null if unknown."""
    tool: str | None = None
    """For a permission: the tool that needs it."""
    command: str | None = None
    """For a permission: the input of the tool, without secrets; can have several lines."""
    resets_at: str | None = None
    """For a usage limit: when the limit resets, if known."""
    due: str | None = None
    """For a question about a handoff: the reason for the handoff, without the question."""


class MarksStatus(Wire):
    """The tokens at which each band begins; null while the window is unknown."""

    notice: int | None = None
    warn: int | None = None
    act: int | None = None
    force: int | None = None


class ContextStatus(Wire):
    tokens: int | None = None
    window: int | None = None
    used: float | None = None
    """Share of the window that is used; can exceed 1."""
    band: BandName = "unknown"
    confidence: Literal["reported", "derived", "assumed", "unknown"] = "unknown"
    source: Literal["statusline", "transcript"] | None = None
    age_seconds: float | None = None
    compacts_at: int | None = None
    compacts_at_source: Literal["formula", "seen"] | None = None
    """`formula`: calculated with the CLI's formula; `seen`: observed with this CLI."""
    tokens_per_turn: int | None = None
    turns_left: int | None = None
    marks: MarksStatus = Field(default_factory=MarksStatus)
    tool_calls: int | None = None
    """Set only if the token count is unknown; the band may then depend on this number."""
    trend: list[int] = Field(default_factory=list)
    """The whole session as a few token counts, oldest first; `GET /v1/course/NAME` has more."""


class HandoffStatus(Wire):
    id: str
    reason: Reason
    phase: PhaseName
    since: str
    detail: str | None = None
    """Why the handoff is waiting, as text."""
    document: str | None = None
    """Absolute path of the document, if it exists (in phase `asked`: of a draft from facts)."""
    writer: Literal["agent", "sdk", "facts"] | None = None
    to: str | None = None
    """The runtime of the new session, if it differs from the runtime of the old session."""


class BackgroundStatus(Wire):
    """A background task of the agent; tasks end with the session."""

    id: str
    type: str
    """`shell`, `monitor` and the like; subagents are not in this list."""
    description: str = ""
    command: str = ""
    """For a shell; without secrets."""
    log: str | None = None
    """For a shell: the file with its output."""


class AgentStatus(Wire):
    name: str
    runtime: str
    """The runtime of the current session."""
    configured_runtime: str | None = None
    """The runtime in the agent's settings; a handoff can continue the job in another one."""
    job: str | None = None
    state: State
    needs: Needs | None = None
    pane: str | None = None
    pid: int | None = None
    directory: str
    """The working directory: inside the agent's worktree, if it has one."""
    configured_directory: str | None = None
    """The directory from the configuration or the command line, for the agent's next job."""
    goal: str | None = None
    """The job's prompt, or the first prompt of a session that cockpit did not start."""
    branch: str | None = None
    worktree: str | None = None
    session_id: str | None = None
    session_number: int | None = None
    previous_session_id: str | None = None
    transcript: str | None = None
    model: str | None = None
    context: ContextStatus = Field(default_factory=ContextStatus)
    mode: Literal["observe", "prompt", "auto"]
    strategy: Literal["handoff", "compact", "hybrid"]
    handoff: HandoffStatus | None = None
    handoffs: int = 0
    max_handoffs: int
    compactions: int = 0
    cost_usd: float | None = None
    chain_cost_usd: float | None = None
    background: list[BackgroundStatus] = Field(default_factory=list)
    """Background tasks that are running."""
    activity: str | None = None
    job_done: bool = False
    """The job is done, even if the agent's process ended since."""
    last_activity_at: str | None = None
    note: str | None = None
    """The reason for the state, if the state alone is not clear."""
    warning: str | None = None
    """A hook that failed, until the hook succeeds again."""


class SupervisorStatus(Wire):
    pid: int | None = None
    started_at: str | None = None
    version: str | None = None
    config: str | None = None
    """The configuration file that the supervisor read last, besides the user's own; null for
    none."""
    config_named: bool = False
    """The user named the file on a command line, so all of its settings apply."""
    trouble: str | None = None
    """Why the supervisor cannot write its state, or what failed in it, and how to fix it; null
    without a problem."""


class HeldSetting(Wire):
    """A setting that is ignored until the user trusts its file."""

    file: str
    line: int
    key: str
    reason: str
    agent: str | None = None
    """The agent of the setting; null for a setting that applies to all agents of the file."""
    host: str | None = None
    """The host of the file; null in the response of that host itself."""


class ElsewhereSession(Wire):
    """A session of a coding CLI on this machine that cockpit did not start.

    Model and context come from the transcript, other values from the CLI's status file. A value
    that is not in the file is null.
    """

    session_id: str
    runtime: str
    pid: int
    """The process that has the session open."""
    directory: str
    """Where the session began."""
    kind: str | None = None
    """The CLI's name for the kind of session, such as `interactive`."""
    status: Literal["busy", "idle", "waiting", "unknown"] = "unknown"
    """From the CLI's status file."""
    waiting_for: str | None = None
    """Why the session is waiting, in the CLI's words, such as `permission prompt`."""
    started_at: str | None = None
    changed_at: str | None = None
    """When the CLI last changed its status."""
    version: str | None = None
    """The version of the CLI."""
    goal: str | None = None
    """The first prompt in the transcript, in one line without secrets."""
    terminal: str | None = None
    """The controlling terminal of the process, such as `pts/3`."""
    pane: str | None = None
    """The tmux pane in which the process was started, such as `%4`; null outside tmux."""
    tmux_socket: str | None = None
    """The socket of that pane's tmux server."""
    refusal: str | None = None
    """Why adopting would be refused, and what to do instead; null if no reason is known."""
    transcript: str | None = None
    """Path of the transcript; null if the file does not exist yet."""
    model: str | None = None
    context: ContextStatus = Field(default_factory=ContextStatus)
    """The context use, with the bands of the user's defaults."""
    watched: bool = False
    """Whether the user is notified when its context passes the act threshold."""
    host: str | None = None
    """The host of the process; null in the response of that host itself."""


class Status(Wire):
    version: Literal[1] = 1
    host: str = "local"
    supervisor: SupervisorStatus = Field(default_factory=SupervisorStatus)
    agents: list[AgentStatus] = Field(default_factory=list)
    held: list[HeldSetting] = Field(default_factory=list)
    elsewhere: list[ElsewhereSession] | None = None
    """Sessions that cockpit did not start. Null without `?elsewhere=1`, and if the user turned
    these sessions off."""
