"""Lines that the supervisor pushes: `/v1/events`, `/v1/watch` and `/v1/screen/NAME`.

`watch` begins with one `Snapshot`, then sends only what changed; `screen` sends a `ScreenShot`
whenever the picture differs from the last one sent, and nothing else.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from cockpit.wire.status import AgentStatus, Status, Wire


class Event(Wire):
    """Something that happened, once; `id` grows by one and is never used again."""

    id: int
    at: str
    """UTC, RFC 3339."""
    agent: str | None = None
    kind: str
    """Past tense, dotted: `agent.started`, `band.crossed`, `handoff.confirmed`, …"""
    text: str
    """A sentence for the user."""
    data: dict[str, Any] = Field(default_factory=dict)


class Snapshot(Wire):
    type: Literal["snapshot"] = "snapshot"
    status: Status


class AgentChanged(Wire):
    """One row that differs from what this client was last told."""

    type: Literal["agent"] = "agent"
    agent: AgentStatus


class AgentForgotten(Wire):
    type: Literal["forgotten"] = "forgotten"
    name: str


class Happened(Wire):
    type: Literal["event"] = "event"
    event: Event


class ScreenShot(Wire):
    """What stands in an agent's pane. Lines hold text and SGR sequences only."""

    lines: list[str]
    cursor: tuple[int, int] | None = None
    """Column and row, from 0; None when hidden."""
    pane: str | None = None


WatchLine = Snapshot | AgentChanged | AgentForgotten | Happened
