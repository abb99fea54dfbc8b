"""`cockpit adopt`: take over a session that cockpit did not start."""

from __future__ import annotations

from collections.abc import Callable

from cockpit.core.errors import NotNow
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.lifetime import Lifetime
from cockpit.supervisor.sessions.adopt_elsewhere import Adoption
from cockpit.wire.verbs import Adopt, Done


class AdoptHandler:
    """Adopts a session that cockpit did not start (`Adopt`)."""

    def __init__(
        self, adoption: Adoption, life: Lifetime, changed: Callable[[Agent], None]
    ) -> None:
        self._adoption = adoption
        self._life = life
        self._changed = changed

    async def __call__(self, asked: Adopt) -> Done:
        """End the session's process, and reopen the session as a new agent."""
        if self._life.ending:
            raise NotNow(
                "The supervisor is shutting down",
                "You stopped it with cockpit down.",
                hint="To start it again: cockpit up",
            )
        agent = await self._adoption.adopt(asked)
        self._changed(agent)
        return Done(
            message=f"Adopted the session as {agent.name}, in {agent.directory}",
            name=agent.name,
            pane=agent.record.pane,
        )
