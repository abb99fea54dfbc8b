"""What the supervisor writes down: enough to come back to, nothing that can be looked up.

Times are unix seconds, for people; deadlines live in the handoff's own record, in monotonic
seconds with the boot they belong to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cockpit.core.handoff.details import HandoffDetails
from cockpit.core.ids import AgentName, HandoffId, JobId, PaneId, SessionId


@dataclass(frozen=True, slots=True)
class AgentRecord:
    """An agent's agent: what was asked for, and who sits in it now."""

    name: AgentName
    settings: dict[str, Any]
    """As resolved when it was started: a later edit of the file changes later starts."""
    config_file: str | None
    wanted: bool
    """It is meant to live: False once the user has stopped it."""
    directory: str
    worktree: str | None = None
    branch: str | None = None
    job: JobId | None = None
    session: SessionId | None = None
    run: str | None = None
    """The marker its processes carry."""
    pane: PaneId | None = None
    pid: int | None = None
    started: int | None = None
    boot: str | None = None
    note: str | None = None
    """Why it is as it is, where the process does not tell (`stopped by you`, …)."""
    ending: str | None = None
    """How its last process ended, in words; None while one lives."""
    gave_up: str | None = None
    """Why nobody was started again after an end, when the user has to look."""


@dataclass(frozen=True, slots=True)
class JobRecord:
    """What an agent was asked to do; spans sessions."""

    id: JobId
    agent: AgentName
    prompt: str | None
    created: float
    base_commit: str | None = None
    """Where the branch stood when the job began."""


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """One conversation of the CLI, and its place in the job's chain."""

    id: SessionId
    agent: AgentName
    job: JobId
    number: int
    previous: SessionId | None
    run: str
    created: float
    document: str | None = None
    """The handoff document that it was started to read; None for most first sessions."""
    transcript: str | None = None
    permission_mode: str = ""
    state: str = "live"
    """`live`, `handed_off`, `ended`, `undoing` (to give way to the one before it), `undone`."""
    cost_usd: float | None = None
    tokens: int | None = None
    """In context when last seen."""
    compactions: int = 0
    ended: float | None = None
    """When it was seen to be over; None while it lives."""


@dataclass(frozen=True, slots=True)
class HandoffRecord:
    """One handoff, and where it stands."""

    id: HandoffId
    agent: AgentName
    job: JobId
    old_session: SessionId
    reason: str
    created: float
    boot: str
    """The boot that its monotonic times belong to."""
    record: dict[str, Any]
    """`core.handoff.record`."""
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
    """Something that happened."""

    id: int
    at: float
    agent: AgentName | None
    kind: str
    text: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class OutgoingRecord:
    """A message that is to leave this machine, until it has left or is given up."""

    id: str
    """Stays the same over all attempts, so that the other side can tell a repetition."""
    created: float
    agent: AgentName
    kind: str
    """webhook, slack, discord, notify; or notice, for the user's own notifications."""
    hook: dict[str, Any]
    """Which one it was, by `name` and `key`; its addresses and headers are not written down."""
    payload: dict[str, Any]
    next_at: float
    """Unix seconds before which it is not tried."""
    attempts: int = 0
