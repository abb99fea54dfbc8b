"""Cancel a handoff before a stop or an undo."""

from __future__ import annotations

from cockpit.core.errors import NotNow
from cockpit.core.handoff.events import CalledOff
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.handoff.engine import Engine


async def cancel_handoff(engine: Engine, agent: Agent) -> None:
    """Cancel the handoff, if any. Raises `NotNow` if the old session is already being replaced."""
    if agent.handoff is None:
        return
    await engine.apply(agent, CalledOff("you cancelled the handoff"))
    if agent.handoff is not None:
        raise NotNow(
            f"{agent.name} is between two sessions",
            "The old session is being replaced by a new one.",
            "Try again in a few seconds.",
        )
