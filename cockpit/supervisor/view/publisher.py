"""Publish rows to the listeners of `/v1/watch` when they change.

A row is sent at most every `QUICK` seconds; changes in between are sent together. A row of which
only the age changed is not sent: listeners count the age.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from cockpit.ports.clock import Clock
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.events import EventLog, Listener
from cockpit.supervisor.view.needs import need
from cockpit.supervisor.view.rows import row, state
from cockpit.wire.status import AgentStatus, State
from cockpit.wire.stream import AgentChanged, AgentForgotten

QUICK = 0.02
"""Seconds."""


class RowPublisher:
    """Rows, and the listeners of `/v1/watch`."""

    def __init__(
        self, clock: Clock, event_log: EventLog, agents: Callable[[], list[Agent]]
    ) -> None:
        self._clock = clock
        self._agents = agents
        self._sent: dict[str, AgentStatus] = {}
        self._dirty: dict[str, Agent] = {}
        self._wake = asyncio.Event()
        self._listeners: set[Listener] = set()
        self.event_log = event_log

    def rows(self) -> list[AgentStatus]:
        """All current rows."""
        return [self.row(agent) for agent in self._agents()]

    def row(self, agent: Agent) -> AgentStatus:
        return row(agent, self._clock.steady(), self._clock.monotonic())

    def state_of(self, agent: Agent) -> State:
        """The agent's state, as on its row."""
        return state(agent, need(agent, self._clock.monotonic()))

    def changed(self, agent: Agent) -> None:
        """Send the agent's row soon, if it changed."""
        self._dirty[agent.name] = agent
        self._wake.set()

    def forgotten(self, name: str) -> None:
        """Tell listeners that an agent was removed."""
        self._sent.pop(name, None)
        self._dirty.pop(name, None)
        for listener in tuple(self._listeners):
            listener.send(AgentForgotten(name=name))

    def listen(self) -> Listener:
        """Add a listener, which must be given all current rows before anything else happens.

        Earlier listeners get what has changed until now, so that every row that is sent later can
        be compared with the last one that all of them have.
        """
        for agent in self._agents():
            self._publish(agent)
        listener = Listener()
        self._listeners.add(listener)
        return listener

    def leave(self, listener: Listener) -> None:
        self._listeners.discard(listener)

    async def run(self) -> None:
        """Send changed rows, until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            dirty, self._dirty = self._dirty, {}
            for agent in dirty.values():
                self._send(agent)
            await asyncio.sleep(QUICK)

    def _send(self, agent: Agent) -> None:
        if self._listeners:
            self._publish(agent)

    def _publish(self, agent: Agent) -> None:
        """Send the row if it differs from the last one that listeners have."""
        now = self.row(agent)
        before = self._sent.get(agent.name)
        self._sent[agent.name] = now
        if before is not None and _without_age(before) == _without_age(now):
            return
        for listener in tuple(self._listeners):
            listener.send(AgentChanged(agent=now))

    def close(self) -> None:
        """End every listener."""
        for listener in tuple(self._listeners):
            with suppress(asyncio.QueueFull):
                listener.close()


def _without_age(row: AgentStatus) -> AgentStatus:
    return row.model_copy(update={"context": row.context.model_copy(update={"age_seconds": None})})
