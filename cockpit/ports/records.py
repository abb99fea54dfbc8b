"""Records in the database: data that the supervisor needs after a restart and finds nowhere else.

Times are unix seconds, for users. Deadlines are in the handoff's state, in monotonic seconds of the
boot that the record names.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.event_data import from_data
from cockpit.core.events import Event
from cockpit.core.handoff.details import HandoffDetails
from cockpit.core.ids import AgentName, HandoffId, JobId, PaneId, SessionId


@dataclass(frozen=True, slots=True)
class AgentRecord:
    """An agent: its settings, and its current session and process."""

    name: AgentName
    settings: dict[str, Any]
    """The settings with which the agent started; a later edit of `config_file` applies from the
    next start."""
    config_file: str | None
    wanted: bool
    """Whether the agent should be running; False after the user stopped the agent."""
    directory: str
    worktree: str | None = None
    branch: str | None = None
    job: JobId | None = None
    session: SessionId | None = None
    run: str | None = None
    """Value of `COCKPIT_RUN` in the environment of the agent's processes."""
    pane: PaneId | None = None
    pid: int | None = None
    started: int | None = None
    boot: str | None = None
    note: str | None = None
    """The reason for the agent's state, if the process does not show it (`stopped by you`, …)."""
    ending: str | None = None
    """How the agent's last process ended, as text; None while a process is running."""
    gave_up: str | None = None
    """A problem that the user has to solve, such as a start that failed, as text for the agent's
    row; None without one."""
    folder: str | None = None
    """The folder in which the agent works: the worktree's counterpart of `directory`. None without
    a worktree, or if unknown."""


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A job: the request to an agent, which can take several sessions."""

    id: JobId
    agent: AgentName
    prompt: str | None
    created: float
    base_commit: str | None = None
    """The branch's commit when the job began; None if unknown."""


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """One conversation of the CLI, and its position in the job's chain."""

    id: SessionId
    agent: AgentName
    job: JobId
    number: int
    previous: SessionId | None
    run: str
    created: float
    """When the session started; 0 if unknown, as for a session from another machine."""
    document: str | None = None
    """The handoff document that the session was started with; None for most first sessions."""
    transcript: str | None = None
    permission_mode: str = ""
    state: str = "live"
    """`live`, `handed_off`, `ended`, `undoing` (reopening the previous session), `undone`, or
    `failed` (started by a handoff, but not confirmed)."""
    cost_usd: float | None = None
    tokens: int | None = None
    """Tokens in context at the last count; None if unknown."""
    compactions: int = 0
    ended: float | None = None
    """When the session ended; None while the session is running; 0 if the time is unknown."""
    cli_id: SessionId | None = None
    """The CLI's id of the session, if the CLI uses another id than `id`. If the CLI chooses ids:
    None until the id is known. If cockpit chooses ids: set only if another of cockpit's sessions
    already has the CLI's id (after `/resume` of an earlier session, or of another agent's session).
    """
    runtime: str = ""
    """The CLI of the session. Empty in records of earlier versions: the agent's configured CLI."""
    model: str = ""
    """The model that a handoff chose for the session; empty for the default."""
    chosen_modes: dict[str, str] = field(default_factory=dict)
    """Maps a CLI, other than the configured one, to the narrower permission mode that the user
    chose in an earlier session of that CLI; the newest choice is last. `permission_mode` is a mode
    of the configured CLI."""


@dataclass(frozen=True, slots=True)
class HandoffRecord:
    """One handoff, with its state while it is open and its outcome afterwards."""

    id: HandoffId
    agent: AgentName
    job: JobId
    old_session: SessionId
    reason: str
    created: float
    boot: str
    """The boot id for the monotonic times in `record`."""
    record: dict[str, Any]
    """The state, in the form of `core.handoff.record`."""
    details: HandoffDetails
    ended: float | None = None
    outcome: str | None = None
    why: str | None = None
    new_session: SessionId | None = None
    document: str | None = None
    copy: str | None = None
    sha256: str | None = None
    writer: str | None = None


@dataclass(frozen=True, slots=True)
class EventRecord:
    """An event that the supervisor recorded."""

    id: int
    at: float
    agent: AgentName | None
    kind: str
    text: str
    data: dict[str, Any]

    @property
    def event(self) -> Event:
        """The event as an object of its own type."""
        return from_data(self.kind, self.data)


@dataclass(frozen=True, slots=True)
class OutgoingRecord:
    """A message in the outgoing queue, until it is delivered or given up."""

    id: str
    """Id of the message; the same for all attempts, so that the receiver can recognise a repeated
    message."""
    created: float
    agent: AgentName
    """Name of the agent; empty for a notice about a session that belongs to no agent."""
    kind: str
    """How the message is sent: webhook, slack, discord, notify; or notice, for the user's
    notifications."""
    hook: dict[str, Any]
    """The hook's `name`, and hashes of its address (`key`, `place`); URLs and headers are not
    stored."""
    payload: dict[str, Any]
    next_at: float
    """When to send the message next, in unix seconds."""
    attempts: int = 0
