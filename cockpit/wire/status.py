"""`GET /v1/status` and `cockpit status --json`: field for field, the contract of the design.

Absent is null, never a made-up zero. Names may be added, never changed.
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
    """Everything on the wire: immutable, and deaf to fields of a newer version."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Needs(Wire):
    kind: NeedKind
    detail: str
    """A sentence for the user, with the next step."""
    since: str | None = None
    """When it began to wait, where that is known."""
    tool: str | None = None
    """Of a permission: the tool that asks for it."""
    command: str | None = None
    """Of a permission: what the tool is to do, over several lines; secrets taken out."""
    resets_at: str | None = None
    """Of a usage limit: when it begins anew, where anybody said so."""
    due: str | None = None
    """Of a question about a handoff: why one is due, without the question itself."""


class MarksStatus(Wire):
    """Where the bands begin for this agent, in tokens; null while the window is not known."""

    notice: int | None = None
    warn: int | None = None
    act: int | None = None
    force: int | None = None


class ContextStatus(Wire):
    tokens: int | None = None
    window: int | None = None
    used: float | None = None
    """0 to 1 of the window, uncapped."""
    band: BandName = "unknown"
    confidence: Literal["reported", "derived", "assumed", "unknown"] = "unknown"
    source: Literal["statusline", "transcript"] | None = None
    age_seconds: float | None = None
    compacts_at: int | None = None
    compacts_at_source: Literal["formula", "seen"] | None = None
    """`formula`: a guess, by the CLI's own rule; `seen`: as this CLI was seen to do it."""
    tokens_per_turn: int | None = None
    turns_left: int | None = None
    marks: MarksStatus = Field(default_factory=MarksStatus)
    tool_calls: int | None = None
    """Counted only while no reading can be had (then the band may come from it)."""
    trend: list[int] = Field(default_factory=list)
    """The whole session in a few readings, oldest first; `GET /v1/course/NAME` has more."""


class HandoffStatus(Wire):
    id: str
    reason: Reason
    phase: PhaseName
    since: str
    detail: str | None = None
    """What it waits for, in words."""
    document: str | None = None
    """Absolute path, once there is one (in `asked`: a draft of facts)."""
    writer: Literal["agent", "sdk", "facts"] | None = None


class BackgroundStatus(Wire):
    """Something that the agent left running; it ends with the session."""

    id: str
    type: str
    """`shell`, `monitor` and the like; subagents are not in this list."""
    description: str = ""
    command: str = ""
    """Of a shell; secrets taken out."""
    log: str | None = None
    """The file that a shell's output goes to."""


class AgentStatus(Wire):
    name: str
    runtime: str
    job: str | None = None
    state: State
    needs: Needs | None = None
    pane: str | None = None
    pid: int | None = None
    directory: str
    """Where the agent works: inside its worktree, if it has one."""
    configured_directory: str | None = None
    """Where its next job would start from, as the file or the command line says."""
    goal: str | None = None
    """The job as it was asked for, or the first prompt of a session that cockpit did not begin."""
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
    """What runs in the background while the agent works or is idle."""
    activity: str | None = None
    last_activity_at: str | None = None
    note: str | None = None
    """Why the agent is in its state, where the state alone does not say."""
    warning: str | None = None
    """A hook that failed, until it goes well again; worth a word whatever the agent does."""


class SupervisorStatus(Wire):
    pid: int | None = None
    started_at: str | None = None
    version: str | None = None
    config: str | None = None
    """The configuration file that it read last, beside your own; null for none."""
    config_named: bool = False
    """The file was named on a command line, so all of its settings count."""
    trouble: str | None = None
    """Why the supervisor cannot write its state, with the remedy; null while it can."""


class HeldSetting(Wire):
    """A setting that does not count until the user trusts the file that it stands in."""

    file: str
    line: int
    key: str
    reason: str
    agent: str | None = None
    """Whose it would be; null for one of all the file's agents."""
    host: str | None = None
    """The other machine that the file is on; null on its own."""


class Status(Wire):
    version: Literal[1] = 1
    host: str = "local"
    supervisor: SupervisorStatus = Field(default_factory=SupervisorStatus)
    agents: list[AgentStatus] = Field(default_factory=list)
    held: list[HeldSetting] = Field(default_factory=list)
