"""What listeners see: the rows as they were last told, and who has to be told what changed.

A change is told at most every `QUICK` seconds for each row; many changes at once are one. A row
that only grew older is not told: its age is the listener's to count.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from cockpit.ports.clock import Clock
from cockpit.supervisor.feed import Feed, Listener
from cockpit.supervisor.rows import row
from cockpit.supervisor.seat import Seat
from cockpit.wire.status import AgentStatus
from cockpit.wire.stream import AgentChanged, AgentForgotten

QUICK = 0.02


class Board:
    """Rows, and the listeners of `/v1/watch`."""

    def __init__(self, clock: Clock, feed: Feed, seats: Callable[[], list[Seat]]) -> None:
        self._clock = clock
        self._seats = seats
        self._told: dict[str, AgentStatus] = {}
        self._dirty: dict[str, Seat] = {}
        self._wake = asyncio.Event()
        self._listeners: set[Listener] = set()
        self.feed = feed

    def rows(self) -> list[AgentStatus]:
        """Every row, as of now."""
        return [self.row(seat) for seat in self._seats()]

    def row(self, seat: Seat) -> AgentStatus:
        return row(seat, self._clock.steady(), self._clock.monotonic())

    def changed(self, seat: Seat) -> None:
        """Something about this seat may look different now."""
        self._dirty[seat.name] = seat
        self._wake.set()

    def forgotten(self, name: str) -> None:
        self._told.pop(name, None)
        self._dirty.pop(name, None)
        for listener in tuple(self._listeners):
            listener.tell(AgentForgotten(name=name))

    def listen(self) -> Listener:
        listener = Listener()
        self._listeners.add(listener)
        return listener

    def leave(self, listener: Listener) -> None:
        self._listeners.discard(listener)

    async def run(self) -> None:
        """Tell what changed, for ever."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            dirty, self._dirty = self._dirty, {}
            for seat in dirty.values():
                self._tell(seat)
            await asyncio.sleep(QUICK)

    def _tell(self, seat: Seat) -> None:
        if not self._listeners:
            self._told.pop(seat.name, None)
            return
        now = self.row(seat)
        before = self._told.get(seat.name)
        self._told[seat.name] = now
        if before is not None and _without_age(before) == _without_age(now):
            return
        for listener in tuple(self._listeners):
            listener.tell(AgentChanged(agent=now))

    def close(self) -> None:
        """Let every listener end."""
        for listener in tuple(self._listeners):
            with suppress(asyncio.QueueFull):
                listener.close()


def _without_age(row: AgentStatus) -> AgentStatus:
    return row.model_copy(update={"context": row.context.model_copy(update={"age_seconds": None})})
