"""Publish rows to the listeners of `/v1/watch` when they change.

A row is sent at most every `QUICK` seconds; changes in between are sent together. A row of which
only the age changed is not sent: listeners count the age.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from cockpit.core.safetext import safe_line
from cockpit.ports.clock import Clock
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.events import EventLog, Listener
from cockpit.supervisor.view.needs import need
from cockpit.supervisor.view.rows import row, state
from cockpit.wire.status import AgentStatus, State
from cockpit.wire.stream import AgentChanged, AgentForgotten

QUICK = 0.02
"""Seconds."""

_log = logging.getLogger(__name__)


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
        self._faults: dict[str, str] = {}
        """Agent -> the error that its row cannot be built for; it was logged."""
        self.event_log = event_log

    def rows(self) -> list[AgentStatus]:
        """All current rows."""
        return [self.row(agent) for agent in self._agents()]

    def row(self, agent: Agent) -> AgentStatus:
        """The agent's row. If it cannot be built, one that says so: a fault in the data of one
        agent must not hide the other agents.
        """
        try:
            found = row(agent, self._clock.steady(), self._clock.monotonic())
        except Exception as bug:  # noqa: BLE001  the others are shown
            return _faulty_row(agent, self._fault(agent, bug))
        self._faults.pop(agent.name, None)
        return found

    def _fault(self, agent: Agent, bug: Exception) -> str:
        """The error as text. Logs it once until the row can be built again or the error changes."""
        text = safe_line(f"{type(bug).__name__}: {bug}", 200)
        if self._faults.get(agent.name) != text:
            self._faults[agent.name] = text
            _log.error("cannot build the row of %s", agent.name, exc_info=bug)
        return text

    def state_of(self, agent: Agent) -> State:
        """The agent's state, as on its row."""
        try:
            return state(agent, need(agent, self._clock.monotonic()))
        except Exception as bug:  # noqa: BLE001  the others are shown
            self._fault(agent, bug)
            return "unknown"

    def changed(self, agent: Agent) -> None:
        """Send the agent's row soon, if it changed."""
        self._dirty[agent.name] = agent
        self._wake.set()

    def forgotten(self, name: str) -> None:
        """Tell listeners that an agent was removed."""
        self._sent.pop(name, None)
        self._faults.pop(name, None)
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


def _faulty_row(agent: Agent, error: str) -> AgentStatus:
    """A row with only what the configuration and the agent's record have."""
    return AgentStatus(
        name=agent.name,
        runtime=agent.runtime.name,
        job=agent.record.job,
        state="unknown",
        pane=agent.record.pane,
        directory=agent.record.directory,
        session_id=agent.record.session,
        mode=agent.settings.mode,
        strategy=agent.settings.strategy,
        max_handoffs=agent.settings.handoff.max_per_job,
        note=f"cockpit cannot show this agent ({error}). Its session is not affected; the "
        "supervisor's log has the details. Please report this error",
    )


def _without_age(row: AgentStatus) -> AgentStatus:
    return row.model_copy(update={"context": row.context.model_copy(update={"age_seconds": None})})
