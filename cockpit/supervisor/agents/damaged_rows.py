"""Report database rows that the store found damaged and moved to another table."""

from __future__ import annotations

from collections.abc import Callable

from cockpit.core.events import Plain
from cockpit.core.safetext import safe_line
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.dependencies import Dependencies


class DamagedRows:
    """Reports each damaged database row once."""

    def __init__(
        self, dependencies: Dependencies, fleet: Fleet, changed: Callable[[Agent], None]
    ) -> None:
        self._dependencies = dependencies
        self._fleet = fleet
        self._changed = changed
        self._reported = 0

    def report(self) -> None:
        """Report newly found damaged rows as events, and on the screen for the affected agent."""
        store = self._dependencies.store
        for damaged in store.rows_put_aside[self._reported :]:
            self._reported += 1
            agent = self._fleet.find(damaged.agent) or self._with_record_of(damaged.id)
            text = (
                f"a damaged database row was moved to another table ({damaged.table} "
                f"{damaged.id[:8]}, {damaged.why}); the other rows are kept. Check the disk of "
                f"{self._dependencies.places.database}"
            )
            self._dependencies.event_log.record(
                Plain("store.row_put_aside"),
                safe_line(f"{damaged.agent or 'cockpit'}: {text}", 400),
                agent.name if agent is not None else None,
            )
            if agent is not None:
                store.save_agent(agent.change(gave_up=safe_line(text, 300)))
                self._changed(agent)

    def _with_record_of(self, ident: str) -> Agent | None:
        """Return the agent whose job or session has this id; None if there is none."""
        held = (agent for agent in self._fleet if ident in (agent.record.job, agent.record.session))
        return next(held, None)
