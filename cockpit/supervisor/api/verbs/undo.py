"""`cockpit undo`: return to the previous session."""

from __future__ import annotations

from collections.abc import Callable

from cockpit.core.handoff.states import Confirming
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.api.verbs.answers import Answers
from cockpit.supervisor.api.verbs.cancel import cancel_handoff
from cockpit.supervisor.handoff.engine import Engine
from cockpit.supervisor.sessions.undo import Undo as Undoing
from cockpit.wire.verbs import (
    Done,
    Undo,
)


class UndoHandler:
    """Reopens the session before the current one (`Undo`). Holds the agent's lock."""

    def __init__(
        self,
        *,
        fleet: Fleet,
        engine: Engine,
        answers: Answers,
        undo: Undoing,
        changed: Callable[[Agent], None],
    ) -> None:
        self._fleet = fleet
        self._engine = engine
        self._answers = answers
        self._undo = undo
        self._changed = changed

    async def __call__(self, asked: Undo) -> Done:
        """End the agent's current session and reopen the previous one."""
        agent = self._fleet.agent(asked.name)
        if agent.handoff is not None and isinstance(agent.handoff.state, Confirming):
            return await self._answers.give_up(agent, asked.by)
        self._undo.previous(agent)  # raises before any handoff is cancelled
        await cancel_handoff(self._engine, agent)
        before = await self._undo.undo(agent)
        self._changed(agent)
        return Done(message=f"{agent.name} is back in session {before.number}", name=agent.name)
