"""`GET /v1/status` and `cockpit status --json`.

An unknown value is null, never 0. Fields may be added; none is renamed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from cockpit.core.bands import Marks

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
    "asked", "waiting", "documenting", "review", "moving", "stopping", "starting", "confirming"
]


class Wire(BaseModel):
    """Base class of all messages. Immutable; ignores fields of a newer version.

    Rejects NaN and infinity, which JSON does not have.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, defer_build=True)


class Needs(Wire):
    kind: NeedKind
    detail: str
    """Why the agent needs the user, as text; often with the next step."""
    since: str | None = None
    """When the agent began to wait, RFC 3339; null if unknown."""
    tool: str | None = None
    """The tool that needs permission; null for other kinds, and if the CLI names no tool."""
    command: str | None = None
    """The request that needs permission, without secrets; null if unknown. Can be several lines."""
    answerable: bool | None = None
    """Whether the open dialog can be answered without the pane; null unless `kind` is `permission`
    or `question`."""
    resets_at: str | None = None
    """When the usage limit resets, RFC 3339; null if unknown, or without a usage limit."""
    due: str | None = None
    """Why a handoff is due, as text without a question; null unless cockpit asks whether to hand
    off."""


class MarksStatus(Wire):
    """The tokens at which each band begins; null while the window is unknown."""

    notice: int | None = None
    warn: int | None = None
    act: int | None = None
    force: int | None = None

    @classmethod
    def of(cls, marks: Marks | None) -> MarksStatus:
        """Return these thresholds; all null for None."""
        if marks is None:
            return cls()
        return cls(
            notice=marks.notice.tokens,
            warn=marks.warn.tokens,
            act=marks.act.tokens,
            force=marks.force.tokens,
        )


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
    """Source of `compacts_at`: `formula` (the CLI's formula) or `seen` (observed with this CLI)."""
    tokens_per_turn: int | None = None
    turns_left: int | None = None
    marks: MarksStatus = Field(default_factory=MarksStatus)
    tool_calls: int | None = None
    """Number of tool calls, which determines the band if the token count is unknown; null if the
    token count is known."""
    trend: list[int] = Field(default_factory=list)
    """A few token counts from the whole session, oldest first; `GET /v1/course/NAME` has more."""


class HandoffStatus(Wire):
    id: str
    reason: Reason
    phase: PhaseName
    since: str
    detail: str | None = None
    """What the handoff is doing or waiting for, as text; null if `phase` says enough."""
    document: str | None = None
    """Absolute path of the document, or, in phase `asked`, of a draft from facts; null if neither
    exists yet."""
    writer: Literal["agent", "sdk", "facts"] | None = None
    not_found: str | None = None
    """The commits and files that the document names and cockpit did not find, as text, such as `1
    file not found: src/a.py`; null if all were found, or there is no document yet."""
    to: str | None = None
    """The runtime of the new session, if it differs from the runtime of the old session; else
    null."""
    host: str | None = None
    """The machine on which the job continues, by the user's name for it; null for this machine."""
    snoozed_until: str | None = None
    """When cockpit asks again; null if the question is not snoozed, or snoozed until a number of
    tokens."""
    snoozed_until_tokens: int | None = None
    """The tokens of context at which cockpit asks again, or earlier in the force band; null if the
    question is not snoozed, or snoozed for a time."""


class BackgroundStatus(Wire):
    """A background task of the agent. Tasks end when the session ends."""

    id: str
    type: str
    """The kind of task, such as `shell` or `monitor`. Subagents are not in this list."""
    description: str = ""
    command: str = ""
    """The command of a shell, without secrets; empty for other tasks."""
    log: str | None = None
    """Path of the file with a shell's output; null for other tasks."""


class RateLimitStatus(Wire):
    """One of the account's usage limits, and the used share of the limit."""

    name: str
    """The CLI's name for the limit, such as `five_hour` or `seven_day`."""
    used: float
    """The used share, from 0 to 1."""
    resets_at: str | None = None


class LastRequest(Wire):
    """The last request that answered the agent's question or changed the agent's work."""

    verb: str
    by: str
    """The sender: a user, by the name from the user's client (`ana@laptop`), or an agent or hook.
    """
    at: str
    handoff: str | None = None
    """The id of the handoff that was in progress; null without one."""


class AgentStatus(Wire):
    name: str
    runtime: str
    """The runtime of the current session."""
    configured_runtime: str | None = None
    """The runtime in the agent's settings; a handoff can continue the job in another runtime."""
    configured_successor: str | None = None
    """The runtime of the next session by the setting `successor`, if that differs from the runtime
    of the current session; else null."""
    custom_runtimes: list[str] = Field(default_factory=list)
    """The runtimes besides the built-in ones that could continue the job, from configurations and
    installed packages; without `runtime`."""
    job: str | None = None
    state: State
    needs: Needs | None = None
    pane: str | None = None
    pid: int | None = None
    directory: str
    """The agent's working directory: inside its worktree, if it has one."""
    configured_directory: str | None = None
    """The directory from the configuration or the command line, for the agent's next job."""
    goal: str | None = None
    """The job's prompt, else the first prompt in the transcript: one line without secrets, cut at
    200 characters. Null if unknown."""
    branch: str | None = None
    worktree: str | None = None
    session_id: str | None = None
    cli_session_id: str | None = None
    """The CLI's id of the session, such as for `codex resume`; null if that is the same as
    `session_id`, or not known yet."""
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
    budget_usd: float | None = None
    """The budget of the agent's job; null without one."""
    moved_away: bool = False
    """Whether the agent's job continues on another machine. This machine keeps the job's last
    session from before the move."""
    over_budget: bool = False
    """True if the known cost of the job has reached its budget."""
    rate_limits: list[RateLimitStatus] = Field(default_factory=list)
    """The account's usage limits, as last reported in the CLI's status line or transcript.

    Limits that were reset after the report are left out. Empty if the CLI reports none, as for
    accounts without a subscription.
    """
    background: list[BackgroundStatus] = Field(default_factory=list)
    """Background tasks that are running, at most 20."""
    activity: str | None = None
    job_done: bool = False
    """True if the job is done, even if the agent's process has ended since."""
    last_activity_at: str | None = None
    exit_code: int | None = None
    """The exit code of the ended process; negative for a signal; null while a process runs, or if
    the code is unknown."""
    note: str | None = None
    """Why the agent is in its state, if the state alone is not clear; else null."""
    last_request: LastRequest | None = None
    """The last request to this agent; null if none arrived since the supervisor started."""
    warning: str | None = None
    """A message about a hook that failed and has not succeeded since; null without such a hook."""

    @property
    def is_snoozed(self) -> bool:
        """Whether the user has snoozed the question of the agent's handoff."""
        handoff = self.handoff
        return handoff is not None and (
            handoff.snoozed_until is not None or handoff.snoozed_until_tokens is not None
        )


class SupervisorStatus(Wire):
    pid: int | None = None
    started_at: str | None = None
    version: str | None = None
    instance: str | None = None
    """A random id of this run of the supervisor, the same on every connection to it. Null in the
    answer to an agent, and from an older supervisor."""
    config: str | None = None
    """The configuration file that the supervisor read last, besides the user's own file; null if it
    has read none."""
    config_named: bool = False
    """True if the user named the file `config` on a command line, so that all its settings
    apply."""
    trouble: str | None = None
    """A problem of the supervisor, such as a disk error, and how to fix it; null without a
    problem."""
    spent_today_usd: float | None = None
    """The known cost of all agents on this local day. Null in the answer to an agent."""
    budget_today_usd: float | None = None
    """The budget of a day, `[limits] cost_per_day`; null without one."""


class HeldSetting(Wire):
    """A setting that is ignored until the user trusts its file."""

    file: str
    line: int
    key: str
    reason: str
    agent: str | None = None
    """The agent of the setting; null for a setting outside the agents' tables, and for an agent
    that has the name of one of the user's agents."""
    host: str | None = None
    """The host of the file; null in the response of that host itself."""


class ElsewhereSession(Wire):
    """A session of a coding CLI on this machine that cockpit did not start.

    Goal, model and context come from the transcript; terminal and pane from the process; most other
    values from the CLI's status file, if the CLI has one. An unknown value is null.
    """

    session_id: str
    runtime: str
    pid: int
    """The id of the process that has the session open."""
    directory: str
    """The directory in which the session began."""
    kind: str | None = None
    """The CLI's name for the kind of session, such as `interactive`."""
    status: Literal["busy", "idle", "waiting", "unknown"] = "unknown"
    """The session's activity, from the CLI's status file."""
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
    """The tmux pane in which the session's process was started, such as `%4`; null outside tmux."""
    tmux_socket: str | None = None
    """Path of the socket of the pane's tmux server; null outside tmux."""
    refusal: str | None = None
    """Why adopting would be refused, and what to do instead; null if no reason is known."""
    transcript: str | None = None
    """Path of the transcript; null if the file does not exist yet."""
    model: str | None = None
    context: ContextStatus = Field(default_factory=ContextStatus)
    """The context use, with the bands of the user's default settings."""
    watched: bool = False
    """Whether the user is notified when the session's context passes the act threshold."""
    host: str | None = None
    """The host of the session; null in the response of that host itself."""


class Status(Wire):
    version: Literal[1] = 1
    host: str = "local"
    supervisor: SupervisorStatus = Field(default_factory=SupervisorStatus)
    agents: list[AgentStatus] = Field(default_factory=list)
    held: list[HeldSetting] = Field(default_factory=list)
    elsewhere: list[ElsewhereSession] | None = None
    """Sessions that cockpit did not start. Null without `?elsewhere=1`, if the setting
    `[elsewhere] show` is off, and in the answer to an agent."""
