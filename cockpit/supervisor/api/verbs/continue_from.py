"""`cockpit continue`: start an agent from a document."""

from __future__ import annotations

from collections.abc import Callable

from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.sessions.continuation import Continuation
from cockpit.wire.verbs import (
    Continue,
    Done,
)


class ContinueHandler:
    """Starts an agent from a handoff document (`Continue`)."""

    def __init__(self, continuation: Continuation, changed: Callable[[Agent], None]) -> None:
        self._continuation = continuation
        self._changed = changed

    async def __call__(self, asked: Continue) -> Done:
        """Start a new agent from a handoff document."""
        agent = await self._continuation.continue_from(asked)
        self._changed(agent)
        message = f"{agent.name} continues from {asked.document} in {agent.directory}"
        return Done(message=message, name=agent.name, pane=agent.record.pane)
