"""Continue the handoffs that were in progress when the previous supervisor ended."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from cockpit.core.errors import CockpitError
from cockpit.core.events import Plain
from cockpit.ports.records import HandoffRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.handoff import draft_permission
from cockpit.supervisor.handoff.engine import Engine


class OpenHandoffs:
    """The handoffs that are stored as in progress when the supervisor starts."""

    def __init__(
        self,
        dependencies: Dependencies,
        fleet: Fleet,
        engine: Engine,
        changed: Callable[[Agent], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._engine = engine
        self._changed = changed
        self._spawn = spawn

    def resume(self) -> None:
        """Restore open handoffs, and continue each in a task of its own.

        Ending an unresponsive agent takes seconds, and an error in one handoff must not stop the
        supervisor's start. All handoffs are restored before requests are served.
        """
        records = self._dependencies.store.open_handoffs()
        handing_off = {record.agent for record in records}
        for agent in self._fleet:
            if agent.name not in handing_off:
                draft_permission.update(agent)
        for record in records:
            held = self._fleet.find(record.agent)
            if held is not None and self._restore(held, record):
                self._spawn(self._continue(held))

    def _restore(self, agent: Agent, record: HandoffRecord) -> bool:
        try:
            self._engine.recall(agent, record)
        except ValueError as wrong:
            self._dependencies.event_log.record(
                Plain("handoff.not_understood"),
                f"Cannot restore a handoff of {agent.name}: {wrong}",
                agent.name,
            )
            now = self._dependencies.clock.now().timestamp()
            ended = replace(record, ended=now, outcome="failed", why=str(wrong))
            self._dependencies.store.save_handoff(ended)
            return False
        return True

    async def _continue(self, agent: Agent) -> None:
        try:
            await self._engine.resume(agent)
        except (CockpitError, OSError) as refused:
            agent.troubles.fail("handoff", str(refused))
            self._changed(agent)
