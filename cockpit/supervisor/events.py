"""What happened, written down and told to whoever listens.

Every event is durable before anybody hears of it. A listener that does not keep up is cut off
rather than waited for; it comes back and asks for what it missed, by number.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any

from cockpit.adapters.store.store import Store
from cockpit.core.errors import Hindered
from cockpit.core.event_kinds import EventKind
from cockpit.core.ids import AgentName
from cockpit.core.safetext import safe_line
from cockpit.ports.clock import Clock
from cockpit.ports.records import EventRecord
from cockpit.wire.stream import Event

BACKLOG = 1000
"""Lines a listener may be behind before it is cut off."""

_log = logging.getLogger(__name__)


class Listener:
    """One who listens. Ends when told to, or when it fell too far behind."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[Any] = asyncio.Queue(BACKLOG)
        self._closed = False

    def send(self, line: Any) -> None:
        """Hand a line over; never waits."""
        if self._closed:
            return
        try:
            self._lines.put_nowait(line)
        except asyncio.QueueFull:
            self.close()

    def close(self) -> None:
        """Let the listener's loop end after what it already has."""
        self._closed = True
        if self._lines.full():
            self._lines.get_nowait()
        self._lines.put_nowait(None)

    async def lines(self) -> AsyncIterator[Any]:
        while (line := await self._lines.get()) is not None:
            yield line


class EventLog:
    """The one place where events are made."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._listeners: set[Listener] = set()
        self.also: Callable[[EventRecord], None] = lambda _: None
        """Called with each event in its transaction: what it lays in stands or falls with it."""

    def record(self, kind: EventKind, text: str, agent: str | None = None, **data: Any) -> Event:
        """Write an event down, then tell it. Foreign text in it is made safe here.

        Never raises for a disk that refuses: what happened has happened. Such an event is in the
        log only.
        """
        at, text = self._clock.now().timestamp(), safe_line(text, 500)
        try:
            with self._store.transaction():
                record = self._store.add_event(at, agent, kind, text, data)
                self.also(record)
        except Hindered as refused:
            _log.warning("not written down (%s): %s: %s", refused.detail, kind, text)
            return as_event(EventRecord(0, at, AgentName(agent or ""), kind, text, data))
        event = as_event(record)
        for listener in tuple(self._listeners):
            listener.send(event)
        return event

    def since(self, after: int, limit: int) -> list[Event]:
        """Oldest first; `after=0` gives the newest `limit`."""
        return [as_event(record) for record in self._store.events(after, limit)]

    def listen(self) -> Listener:
        listener = Listener()
        self._listeners.add(listener)
        return listener

    def leave(self, listener: Listener) -> None:
        self._listeners.discard(listener)

    def close(self) -> None:
        """Let every listener end."""
        for listener in tuple(self._listeners):
            listener.close()


def as_event(record: EventRecord) -> Event:
    return Event(
        id=record.id,
        at=rfc3339(record.at),
        agent=record.agent,
        kind=record.kind,
        text=record.text,
        data=record.data,
    )


def rfc3339(seconds: float) -> str:
    """Unix seconds as UTC, to the second."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
