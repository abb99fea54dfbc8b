"""The event log: stores events and sends them to listeners.

An event is saved before it is sent. Hooks and notifications handle the event in the same
transaction that saves it. A listener that falls too far behind is disconnected; its client can
request the missed events by number.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

from cockpit.adapters.store.store import Store
from cockpit.core import events
from cockpit.core.errors import OsProblem
from cockpit.core.event_data import to_data
from cockpit.core.ids import AgentName
from cockpit.core.safetext import safe_line
from cockpit.core.timestamps import rfc3339
from cockpit.ports.clock import Clock
from cockpit.ports.records import EventRecord
from cockpit.wire.stream import Event

BACKLOG = 1000
"""Maximum unsent lines of a listener. A listener with more is disconnected."""

_log = logging.getLogger(__name__)


class Listener:
    """A queue of lines for one client. Ends when closed, or when the client is too far behind."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[Any] = asyncio.Queue(BACKLOG)
        self._closed = False

    def send(self, line: Any) -> None:
        """Add a line. Does not block; closes the listener if its queue is full."""
        if self._closed:
            return
        try:
            self._lines.put_nowait(line)
        except asyncio.QueueFull:
            self.close()

    def close(self) -> None:
        """End the listener after it has received the lines in its queue.

        If the queue is full, drops the oldest line.
        """
        self._closed = True
        if self._lines.full():
            self._lines.get_nowait()
        self._lines.put_nowait(None)

    async def lines(self) -> AsyncIterator[Any]:
        while (line := await self._lines.get()) is not None:
            yield line


class EventLog:
    """Stores events, and sends them to listeners."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._listeners: set[Listener] = set()
        self.also: Callable[[EventRecord], None] = lambda _: None
        """Called with each event, in the transaction that stores the event. What the callback
        stores is committed with the event."""

    def record(self, event: events.Event, text: str, agent: str | None = None) -> Event:
        """Store an event, then send it to listeners. Makes the text safe to print.

        Does not raise on a disk error: the event is then only in the log file and in the result,
        which has the id 0.
        """
        at, text = self._clock.now().timestamp(), safe_line(text, 500)
        kind, data = event.kind, to_data(event)
        try:
            with self._store.transaction():
                record = self._store.add_event(at, agent, kind, text, data)
                self.also(record)
        except OsProblem as refused:
            _log.warning("event not saved (%s): %s: %s", refused.detail, kind, text)
            return as_event(EventRecord(0, at, AgentName(agent or ""), kind, text, data))
        sent = as_event(record)
        for listener in tuple(self._listeners):
            listener.send(sent)
        return sent

    def since(self, after: int, limit: int) -> list[Event]:
        """Return at most `limit` events, oldest first: those after number `after`.

        If `after` is 0, returns the newest `limit` events.
        """
        return [as_event(record) for record in self._store.events(after, limit)]

    def listen(self) -> Listener:
        listener = Listener()
        self._listeners.add(listener)
        return listener

    def leave(self, listener: Listener) -> None:
        self._listeners.discard(listener)

    def close(self) -> None:
        """End every listener."""
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
