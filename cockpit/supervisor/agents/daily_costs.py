"""Count the cost of all agents on each local day; report when a day's cost reaches the budget.

The store records how much of each session's cost was counted. Only the uncounted part is added, to
the day on which cockpit saw the cost. So no cost is counted twice after a restart, at midnight, if
the clock goes back, or if a session's cost falls.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress

from cockpit.core.errors import OsProblem
from cockpit.core.events import DayBudgetCrossed
from cockpit.core.ids import SessionId
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.latches import EARLIER_COST
from cockpit.supervisor.dependencies import Dependencies
from cockpit.wire.stream import DaySpent

LOOK = 30.0
"""Maximum seconds between two checks of the day's cost."""
PAUSE = 1.0
"""Minimum seconds between two values of `DailyCosts.follow`, because the cost changes with each
reply of an agent."""


class DailyCosts:
    """Adds up the costs of all agents per day, in the database, and reports when the daily budget
    is reached."""

    def __init__(self, dependencies: Dependencies, configured: Callable[[], float]) -> None:
        """`configured` returns the daily budget in US dollars; 0 if none is set."""
        self._dependencies = dependencies
        self._configured = configured
        self._listeners: set[asyncio.Event] = set()

    @property
    def today(self) -> float | None:
        """Today's counted cost, in US dollars; None if the database cannot be read."""
        with suppress(OsProblem):
            return self._dependencies.store.day_cost(self._day())
        return None

    @property
    def budget(self) -> float | None:
        """The daily budget in US dollars; None if none is set."""
        return self._configured() or None

    async def follow(self) -> AsyncGenerator[DaySpent]:
        """Yield the day's cost and budget: first at once, then when either has changed by a cent.

        Both are None without a budget. Checks at least every `LOOK` seconds, because a new day or a
        new configuration sends no event.
        """
        last, wake = None, asyncio.Event()
        self._listeners.add(wake)
        try:
            while True:
                wake.clear()
                if (now := self._reading()) != last:
                    last = now
                    yield now
                    await asyncio.sleep(PAUSE)
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK):
                        await wake.wait()
        finally:
            self._listeners.discard(wake)

    def _reading(self) -> DaySpent:
        budget, spent = self.budget, self.today
        if budget is None:
            return DaySpent()
        spent = None if spent is None else round(spent, 2)
        return DaySpent(spent_today_usd=spent, budget_today_usd=budget)

    def count(self, agent: Agent) -> None:
        """Add to today the part of the session's cost that is not counted yet. Idempotent."""
        session, cost = agent.session, agent.cost_usd
        if session is None or cost is None:
            return
        store, key = self._dependencies.store, session.cli_id or session.id
        counted = store.counted_cost(key, session.id)
        if counted is None:
            earlier = store.latched(session.id, EARLIER_COST) is not None
            # The days on which the earlier cost was spent are unknown.
            counted = cost if earlier else session.cost_usd or 0.0
            store.count_cost(self._day(), 0.0, key, counted)
        if cost > counted:
            store.count_cost(self._day(), round(cost - counted, 6), key, cost)
            for listener in self._listeners:
                listener.set()
        self.check()

    def check(self) -> None:
        """Record once per day and budget that the day's cost has reached the budget."""
        budget, cost, day = self.budget, self.today, self._day()
        if budget is None or cost is None or cost < budget:
            return
        now, store = self._dependencies.clock.now().timestamp(), self._dependencies.store
        with store.transaction():
            if store.latch(SessionId(""), f"budget.{day}.{budget:g}", now):
                self._dependencies.event_log.record(
                    DayBudgetCrossed(day=day, cost_usd=cost, budget_usd=budget),
                    f"All agents together cost ${cost:.2f} today; the daily budget is "
                    f"${budget:.2f}. The agents keep running",
                )

    def _day(self) -> str:
        return self._dependencies.clock.now().astimezone().date().isoformat()
