"""`cockpit done`: mark an agent's job as done, as its completion marker does.

The mark lasts until the agent gets another prompt, even across restarts.
"""

from __future__ import annotations

from collections.abc import Callable

from cockpit.core.errors import NotNow
from cockpit.core.handoff.events import CalledOff, Turn
from cockpit.core.handoff.states import is_revocable
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.agents.latches import MARKED_DONE, has_reported_done
from cockpit.supervisor.agents.predicates import is_job_done
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.handoff.engine import Engine
from cockpit.supervisor.observe.attention import Attention
from cockpit.wire.verbs import Done, Finish


class FinishHandler:
    """Marks an agent's job as done (`Finish`)."""

    def __init__(
        self,
        *,
        dependencies: Dependencies,
        fleet: Fleet,
        engine: Engine,
        attention: Attention,
        changed: Callable[[Agent], None],
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._engine = engine
        self._attention = attention
        self._changed = changed

    async def finish(self, asked: Finish) -> Done:
        """Mark the job as done. Cancels a handoff in progress if the old session still exists."""
        agent = self._fleet.agent(asked.name)
        _check(agent)
        assert agent.session is not None
        if agent.handoff is not None:
            await self._engine.apply(agent, CalledOff("the job is done"))
        if is_job_done(agent):
            return Done(message=f"{agent.name} is already marked as done", name=agent.name)
        now = self._dependencies.clock.steady()
        self._dependencies.store.unlatch(agent.session.id, MARKED_DONE)
        self._dependencies.store.latch(agent.session.id, MARKED_DONE, now)
        agent.marked_done_at = now
        if agent.alive:
            self._attention.look(agent)
        elif not has_reported_done(self._dependencies.store, agent):
            self._attention.record_done(agent)
        self._changed(agent)
        return Done(message=f"{agent.name} is marked as done", name=agent.name)


def _check(agent: Agent) -> None:
    """Raise `NotNow` if the agent has no session, is between two sessions, or is busy."""
    if agent.session is None:
        raise NotNow(
            f"{agent.name} was never started",
            "There is no job to mark as done.",
            f"Start the agent: cockpit start {agent.name}",
        )
    if agent.handoff is not None and not is_revocable(agent.handoff):
        raise NotNow(
            f"{agent.name} is between two sessions",
            "The old session is being replaced by a new one.",
            "Try again in a few seconds.",
        )
    if agent.alive and agent.session_state.activity.turn in (Turn.WORKING, Turn.DIALOG):
        working = agent.session_state.activity.turn is Turn.WORKING
        busy = "is working" if working else "is asking you a question"
        step = (
            "Wait for the end of the turn, or interrupt the turn"
            if working
            else "Answer in the agent's pane"
        )
        raise NotNow(
            f"{agent.name} {busy}",
            "A job can only be marked as done while the agent is idle.",
            f"{step}: cockpit attach {agent.name}",
        )
