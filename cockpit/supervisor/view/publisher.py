"""Publish rows to the listeners of `/v1/watch` when they change.

A row is sent at most once every `QUICK` seconds; changes in between are sent together. A row is not
sent if only an age in it changed: listeners compute ages themselves.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress

from cockpit.core.safetext import safe_line
from cockpit.ports.clock import Clock
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.needs import need
from cockpit.supervisor.agents.shown_state import state
from cockpit.supervisor.events import EventLog, Listener
from cockpit.supervisor.view.rows import row
from cockpit.wire.status import AgentStatus, State
from cockpit.wire.stream import AgentChanged, AgentForgotten

QUICK = 0.02
"""Minimum seconds between two sends of rows."""

KEPT_REMOVALS = 1_000
"""Maximum removed agents that are remembered, for a listener that reconnects."""

_log = logging.getLogger(__name__)


class RowPublisher:
    """Builds the agents' rows, and sends changed rows to the listeners of `/v1/watch`."""

    def __init__(
        self,
        clock: Clock,
        event_log: EventLog,
        agents: Callable[[], list[Agent]],
        custom_runtimes: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._clock = clock
        self._agents = agents
        self._custom_runtimes = custom_runtimes
        self._sent: dict[str, AgentStatus] = {}
        self._dirty: dict[str, Agent] = {}
        self._wake = asyncio.Event()
        self._listeners: set[Listener] = set()
        self._followed = asyncio.Event()
        self._faults: dict[str, str] = {}
        """For each agent whose row cannot be built, the logged error."""
        self._run = secrets.token_hex(4)
        """Distinguishes this supervisor's positions from those of an earlier one."""
        self._number = 0
        """Number of the last change that was sent."""
        self._changed: dict[str, int] = {}
        """Number of each row's last change."""
        self._removed: dict[str, int] = {}
        """For each removed agent, the number of the change that removed it, oldest first."""
        self._complete_since = 0
        """Number of the newest removal that was dropped from `_removed`; 0 if none was."""
        self.event_log = event_log

    @property
    def position(self) -> str:
        """Identifies the last change that was sent; see `changes_since`."""
        return f"{self._run}.{self._number}"

    def changes_since(self, position: str) -> tuple[list[AgentStatus], list[str]] | None:
        """Return the rows that changed after a position and the agents that were removed.

        None if the position is unknown or too old. Call `listen` first, because it records pending
        changes.
        """
        run, _, number = position.partition(".")
        if run != self._run or not (number.isascii() and number.isdigit() and len(number) < 16):
            return None
        after = int(number)
        if not self._complete_since <= after <= self._number:
            return None
        rows = [
            self._sent[agent.name]
            for agent in self._agents()
            if self._changed.get(agent.name, 0) > after
        ]
        return rows, [name for name, removed in self._removed.items() if removed > after]

    def rows(self) -> list[AgentStatus]:
        """Return all current rows."""
        return [self.row(agent) for agent in self._agents()]

    def row(self, agent: Agent) -> AgentStatus:
        """Return the agent's row; if it cannot be built, a row with the error.

        An error in the data of one agent must not hide the other agents.
        """
        try:
            built = row(
                agent, self._clock.steady(), self._clock.monotonic(), self._custom_runtimes()
            )
        except Exception as bug:  # noqa: BLE001  the other agents are shown
            return _faulty_row(agent, self._fault(agent, bug))
        self._faults.pop(agent.name, None)
        return built

    def _fault(self, agent: Agent, bug: Exception) -> str:
        """Return the error as text; log the error unless the last attempt had the same error."""
        text = safe_line(f"{type(bug).__name__}: {bug}", 200)
        if self._faults.get(agent.name) != text:
            self._faults[agent.name] = text
            _log.error("cannot build the row of %s", agent.name, exc_info=bug)
        return text

    def state_of(self, agent: Agent) -> State:
        """Return the agent's state, as in the agent's row."""
        try:
            return state(agent, need(agent, self._clock.monotonic()))
        except Exception as bug:  # noqa: BLE001  the other agents are shown
            self._fault(agent, bug)
            return "unknown"

    def changed(self, agent: Agent) -> None:
        """Send the agent's row within `QUICK` seconds, if it changed."""
        self._dirty[agent.name] = agent
        self._wake.set()

    def forgotten(self, name: str) -> None:
        """Tell all listeners that an agent was removed."""
        self._sent.pop(name, None)
        self._faults.pop(name, None)
        self._dirty.pop(name, None)
        self._changed.pop(name, None)
        self._removed.pop(name, None)
        self._number += 1
        self._removed[name] = self._number
        if len(self._removed) > KEPT_REMOVALS:
            oldest = next(iter(self._removed))
            self._complete_since = self._removed.pop(oldest)
        for listener in tuple(self._listeners):
            listener.send(AgentForgotten(name=name, position=self.position))

    def listen(self) -> Listener:
        """Add a listener. The caller must first send it all current rows, or those of
        `changes_since`.

        Earlier listeners first receive all pending changes, so that all listeners have the same
        rows: a later change is compared with these rows.
        """
        for agent in self._agents():
            self._publish(agent)
        listener = Listener()
        self._listeners.add(listener)
        self._followed.set()
        return listener

    async def followed(self, within: float) -> None:
        """Wait for the first listener, at most `within` seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._followed.wait()

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
        """Send the agent's row if it differs from the row that was sent before."""
        now = self.row(agent)
        before = self._sent.get(agent.name)
        self._sent[agent.name] = now
        if before is not None and _same_but_age(before, now):
            return
        self._number += 1
        self._changed[agent.name] = self._number
        self._removed.pop(agent.name, None)
        for listener in tuple(self._listeners):
            listener.send(AgentChanged(agent=now, position=self.position))

    def close(self) -> None:
        """End every listener."""
        for listener in tuple(self._listeners):
            with suppress(asyncio.QueueFull):
                listener.close()


def _faulty_row(agent: Agent, error: str) -> AgentStatus:
    """Return a row with only the data of the configuration and of the agent's record."""
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


def _same_but_age(one: AgentStatus, other: AgentStatus) -> bool:
    """Return whether two rows are equal, except perhaps for the age of their readings."""
    for name in AgentStatus.model_fields:
        if name != "context" and getattr(one, name) != getattr(other, name):
            return False
    age = {"age_seconds": None}
    return one.context.model_copy(update=age) == other.context.model_copy(update=age)
