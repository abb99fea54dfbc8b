"""Let the agent write its handoff document, but no other file, without a permission dialog.

The permission is valid from the request until the session ends or the handoff is over. An agent may
edit its draft after the document was sealed; a permission dialog would then keep the agent's turn
from ending.
"""

from __future__ import annotations

from cockpit.core.handoff.states import Documenting, Handoff, Reviewing, Settling, Waiting
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.handoff.snapshot import draft_path


def update(agent: Agent) -> None:
    """Give or withdraw the permission, according to the handoff's state. Idempotent."""
    draft = draft_path(agent)
    asked = agent.handoff is not None and was_asked(agent.handoff)
    if agent.alive and asked and draft is not None:
        agent.runtime.permit_writing(agent.name, draft)
    else:
        agent.runtime.forbid_writing(agent.name)


def was_asked(handoff: Handoff) -> bool:
    """Return whether the agent may have been asked for the document of this handoff.

    False once the handoff has begun to end the agent's session.
    """
    if "agent" not in handoff.plan.writers or handoff.plan.given:
        return False
    match handoff.state:
        case Waiting(requested_at=requested):
            return requested is not None
        case Documenting() | Reviewing() | Settling():
            return True
        case _:
            return False
