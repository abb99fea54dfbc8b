"""Streams of JSON lines from the supervisor: `/v1/events`, `/v1/watch`, `/v1/elsewhere` and
`/v1/screen/NAME`.

`watch` begins with one `Snapshot`, and continues with changes only. If the client sends `since`,
the last position that it received, `watch` can begin with `Resumed` instead. `screen` sends a
`ScreenShot` whenever the pane has changed.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from cockpit.wire.status import AgentStatus, ElsewhereSession, Status, Wire

Position = Annotated[str, Field(max_length=64)]
"""A place in the stream of one supervisor. Clients must not interpret the text."""


class Elsewhere(Wire):
    """A line of `/v1/elsewhere`: all sessions that cockpit did not start, after each change."""

    sessions: list[ElsewhereSession] = Field(default_factory=list)


class Event(Wire):
    """One event. The number `id` grows with each event; it starts again if the database is lost."""

    id: int
    at: str
    """When the event happened: UTC, RFC 3339."""
    agent: str | None = None
    kind: str
    """The kind of event: `agent.started`, `band.crossed`, `handoff.confirmed`, …"""
    text: str
    """A sentence for the user."""
    data: dict[str, Any] = Field(default_factory=dict)
    """The data of this kind of event. Another version can send more or fewer keys."""


class Snapshot(Wire):
    type: Literal["snapshot"] = "snapshot"
    status: Status
    position: Position | None = None
    """The place of this line in the stream, for `since` of a later request. Null from a supervisor
    that always sends everything."""


class Resumed(Wire):
    """The changes since the requested place in the stream, instead of a `Snapshot`."""

    type: Literal["resumed"] = "resumed"
    status: Status
    """The current state; `agents` has only the agents that changed."""
    forgotten: list[str] = Field(default_factory=list)
    """Names of the agents that were removed."""
    position: Position


class AgentChanged(Wire):
    """One agent's status, sent when the status has changed."""

    type: Literal["agent"] = "agent"
    agent: AgentStatus
    position: Position | None = None


class AgentForgotten(Wire):
    type: Literal["forgotten"] = "forgotten"
    name: str
    position: Position | None = None


class Happened(Wire):
    type: Literal["event"] = "event"
    event: Event


class ElsewhereCounted(Wire):
    """The number of sessions that cockpit did not start; sent with `elsewhere=1` only."""

    type: Literal["elsewhere"] = "elsewhere"
    count: int


class DaySpent(Wire):
    """Today's cost of all agents; sent after each change, with `day=1` only.

    The fields are the same as in `SupervisorStatus`.
    """

    type: Literal["day"] = "day"
    spent_today_usd: float | None = None
    budget_today_usd: float | None = None


class ScreenShot(Wire):
    """The content of an agent's pane. Lines contain only text and SGR sequences."""

    lines: list[str]
    cursor: tuple[int, int] | None = None
    """Column and row of the cursor, from 0; null if the cursor is hidden."""
    pane: str | None = None


WatchLine = (
    Snapshot | Resumed | AgentChanged | AgentForgotten | Happened | ElsewhereCounted | DaySpent
)
