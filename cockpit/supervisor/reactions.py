"""React to a change of an agent: its hooks, its transcript, its settings, or elapsed time."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from cockpit.core.errors import OsProblem
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.compaction_points import CompactionPoints
from cockpit.supervisor.agents.daily_costs import DailyCosts
from cockpit.supervisor.agents.dialogs import Dialogs
from cockpit.supervisor.agents.locks import AgentLocks
from cockpit.supervisor.handoff.engine import Engine
from cockpit.supervisor.handoff.first_turns import FirstTurnsCheck
from cockpit.supervisor.handoff.triggers import Triggers
from cockpit.supervisor.observe.compaction import Compactions
from cockpit.supervisor.observe.supplements import Supplements
from cockpit.supervisor.view.publisher import RowPublisher


@dataclass(frozen=True, slots=True, kw_only=True)
class Reactions:
    """Passes a changed agent to each component that may have to act."""

    locks: AgentLocks
    publisher: RowPublisher
    dialogs: Dialogs
    compactions: Compactions
    points: CompactionPoints
    first_turns: FirstTurnsCheck
    daily_costs: DailyCosts
    supplements: Supplements
    engine: Engine
    triggers: Triggers

    async def on_change(self, agent: Agent) -> None:
        """React to a change of the agent; if another task has the agent's lock, react later."""
        agent.must_reconsider = True
        if self.locks.is_held_elsewhere(agent.name):
            self.publisher.changed(agent)
            return
        async with self.locks.hold(agent.name, "being checked"):
            # A change after this line is considered again.
            agent.must_reconsider = False
            try:
                await self._consider(agent)
            except BaseException:
                agent.must_reconsider = True
                raise
        self.publisher.changed(agent)

    async def _consider(self, agent: Agent) -> None:
        """Pass the agent to each component.

        An error of a component that only records or prepares something does not delay a handoff:
        the error is raised after all components have run.
        """
        errors: list[Exception] = []
        for record in (
            self.dialogs.save, self.compactions.hold, self.points.consider,
            self.first_turns.consider, self._count_cost,
        ):  # fmt: skip
            try:
                record(agent)
            except Exception as error:  # noqa: BLE001 - raised below
                errors.append(error)
        await self.compactions.cancel_outdated(agent)
        try:
            await self.supplements.consider(agent)
        except Exception as error:  # noqa: BLE001 - raised below
            errors.append(error)
        if agent.handoff is not None:
            await self.engine.look(agent)
        agent.troubles.succeed("handoff")
        await self.triggers.consider(agent)
        if errors:
            raise errors[0]

    def _count_cost(self, agent: Agent) -> None:
        with contextlib.suppress(OsProblem):  # counted at the next check
            self.daily_costs.count(agent)
