"""Order handoffs: which are in progress, and which are ahead of another one. Pure."""

from __future__ import annotations

from cockpit.core.handoff.states import (
    Confirming,
    Documenting,
    Reviving,
    Starting,
    Stopping,
    Waiting,
)
from cockpit.supervisor.agents.agent import Agent

UNDER_WAY = (Documenting, Stopping, Starting, Confirming, Reviving)
"""States of a handoff that count toward the setting `concurrent`. A handoff that waits for the
user does not count."""


def is_under_way(agent: Agent) -> bool:
    """Return whether the agent's handoff counts toward the setting `concurrent`.

    A handoff that an error blocks does not count: the error may last until somebody fixes it.
    """
    if agent.handoff is None or agent.progress.blocked is not None:
        return False
    state = agent.handoff.state
    asked = isinstance(state, Waiting) and state.requested_at is not None
    return asked or isinstance(state, UNDER_WAY)


def is_ahead(other: Agent, agent: Agent) -> bool:
    """Return whether the handoff of `other` began before that of `agent`, and waits only for other
    handoffs."""
    theirs, mine = other.handoff_record, agent.handoff_record
    if other.handoff is None or theirs is None or mine is None:
        return False
    match other.handoff.state:
        case Waiting(requested_at=None, why=why, queued=queued):
            earlier = (theirs.created, theirs.id) < (mine.created, mine.id)
            return earlier and (queued or not why)
        case _:
            return False
