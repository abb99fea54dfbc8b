"""Map each state of an agent to a glyph, a word and a group. Colour is never the only sign."""

from __future__ import annotations

from typing import NamedTuple

from cockpit.wire.status import AgentStatus, State


class Look(NamedTuple):
    glyph: str
    word: str
    role: str


class Group(NamedTuple):
    key: str
    title: str
    states: tuple[str, ...]


GROUPS = (
    Group("needs", "needs you", ("needs_you",)),
    Group("handing", "handing off", ("handing_off",)),
    Group("working", "working", ("starting", "working")),
    Group("idle", "idle", ("idle",)),
    Group("unknown", "unknown", ("unknown",)),
    Group("done", "done", ("done",)),
    Group("stopped", "stopped", ("exited", "stopped")),
)
"""The groups of agents, the most urgent group first."""

_GROUP_OF = {state: group for group in GROUPS for state in group.states}

_LOOKS = {
    "starting": Look("◌", "starting", "working"),
    "working": Look("●", "working", "working"),
    "idle": Look("○", "idle", "idle"),
    "needs_you": Look("◆", "needs you", "needs"),
    "handing_off": Look("»", "handing off", "handing"),
    "done": Look("✓", "done", "done"),
    "stopped": Look("·", "stopped", "muted"),
    "exited": Look("×", "exited", "failed"),
    "unknown": Look("?", "unknown", "muted"),
}

_NEEDS = {
    "permission": "permission",
    "question": "question",
    "handoff": "hand off?",
    "review": "review",
    "trust": "trust?",
    "usage_limit": "usage limit",
    "failed": "failed",
    "breaker": "paused",
    "resume": "reopen?",
}

_PHASES = {
    "asked": "asked",
    "waiting": "waiting",
    "documenting": "documenting",
    "review": "review",
    "moving": "moving",
    "stopping": "stopping",
    "starting": "starting",
    "confirming": "confirming",
}


def last_known(look: Look) -> Look:
    """Return the look of an agent whose host does not answer; `~` marks an outdated state."""
    return look._replace(glyph="~", role="muted")


def group_of(agent: AgentStatus) -> Group:
    return _GROUP_OF[agent.state]


def group_of_state(state: State) -> Group:
    return _GROUP_OF[state]


def look_of(agent: AgentStatus) -> Look:
    """Return the look of an agent, which depends on its state, need and handoff phase."""
    look = _LOOKS[agent.state]
    if agent.state == "needs_you" and agent.needs:
        role = "failed" if agent.needs.kind == "failed" else look.role
        return look._replace(word=_NEEDS[agent.needs.kind], role=role)
    if agent.state == "exited" and agent.exit_code == 0:
        return Look("·", "ended", "muted")
    if agent.state == "handing_off" and agent.handoff:
        return look._replace(word=_PHASES[agent.handoff.phase])
    return look
