"""Notices that an agent has come to need its pilot, or to be done, and tells it once.

The row says so all the time; this turns it into an event. What stands is written down, so that a
restart alarms nobody again, and what is gone may be told anew. A dialog that opens and closes
between two looks was nobody's business.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import get_args

from cockpit.core.errors import Hindered
from cockpit.core.ids import SessionId
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.needs import need
from cockpit.supervisor.rows import state
from cockpit.supervisor.seat import Seat
from cockpit.wire.status import NeedKind, Needs

LOOK = 0.5
"""Seconds between two looks; each costs microseconds a seat."""
DONE = "told.done"
NEEDS = "told.needs."


class Attention:
    """Looks at all rows, twice a second."""

    def __init__(self, instruments: Instruments, seats: Callable[[], Iterable[Seat]]) -> None:
        self._in = instruments
        self._seats = seats
        self._told: dict[str, tuple[SessionId, str]] = {}
        """Agent -> the latch that is set for it, so that the disk is asked only of changes."""

    async def run(self) -> None:
        """Look for ever."""
        while True:
            for seat in self._seats():
                with suppress(Hindered):  # a full disk: looked at again
                    self.look(seat)
            await asyncio.sleep(LOOK)

    def look(self, seat: Seat) -> None:
        """Tell what is new about this seat. Twice is as once."""
        if seat.session is None:
            return
        wanted = need(seat, self._in.clock.monotonic())
        latch = _latch(seat, wanted)
        stands = (seat.session.id, latch)
        if self._told.get(seat.name) == stands:
            return
        self._forget(seat, latch)
        fresh = bool(latch) and self._in.store.latch(seat.session.id, latch, self._now())
        self._told[seat.name] = stands
        if not fresh:
            return
        if wanted is not None:
            words = f"{seat.name} needs you ({wanted.kind}): {wanted.detail}"
            told = {"kind": wanted.kind, "detail": wanted.detail}
            self._tell("agent.needs_you", words, seat, told)
        else:
            self._tell("run.completed", f"{seat.name} is done with its job", seat, {})

    def has_told_of_end(self, seat: Seat) -> bool:
        """Whether this session was told of as done; its process may end long after that."""
        if seat.session is None:
            return False
        return self._in.store.latched(seat.session.id, DONE) is not None

    def _tell(self, kind: str, words: str, seat: Seat, data: dict[str, str]) -> None:
        assert seat.session is not None
        self._in.feed.tell(kind, words, seat.name, session=seat.session.id, needs=data or None)

    def _forget(self, seat: Seat, latch: str) -> None:
        """What stood before and does not now may be told again."""
        assert seat.session is not None
        known = self._told.get(seat.name)
        if known is None:
            # The first look: what an earlier supervisor told may be over by now.
            stale = [DONE, *(f"{NEEDS}{kind}" for kind in get_args(NeedKind))]
            self._in.store.unlatch(seat.session.id, *(one for one in stale if one != latch))
        elif known[1] and known != (seat.session.id, latch):
            self._in.store.unlatch(*known)

    def _now(self) -> float:
        return self._in.clock.now().timestamp()


def _latch(seat: Seat, wanted: Needs | None) -> str:
    """What stands, as the name of a latch; empty when nothing does."""
    if wanted is not None:
        asked = wanted.kind in {"handoff", "review"} and seat.handoff_record is not None
        about = f".{seat.handoff_record.id}" if asked and seat.handoff_record else ""
        return f"{NEEDS}{wanted.kind}{about}"
    return DONE if state(seat, None) == "done" else ""
