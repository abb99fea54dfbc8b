"""Notices that a worktree went away under its living agent, and tells it.

Makes nothing again: what was there is the pilot's to bring back or to give up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.seat import Seat

LOOK = 3.0
"""Seconds between two looks; each is one `stat` a worktree."""


class Vanishing:
    """Looks at the worktrees of all seats."""

    def __init__(
        self, instruments: Instruments, seats: Iterable[Seat], changed: Callable[[Seat], None]
    ) -> None:
        self._in = instruments
        self._seats = seats
        self._changed = changed

    async def run(self) -> None:
        """Look for ever."""
        while True:
            for seat in self._seats:
                self.look(seat)
            await asyncio.sleep(LOOK)

    def look(self, seat: Seat) -> None:
        """Tell what is new about this seat's worktree. Twice is as once."""
        place = seat.record.worktree
        if not place or not seat.alive:
            seat.lost = None
            return
        gone = not (Path(place) / ".git").exists()
        if gone == (seat.lost is not None):
            return
        seat.lost = words(seat, place) if gone else None
        if seat.lost:
            text = f"{seat.name}: {seat.lost}"
            self._in.feed.tell("worktree.lost", text, seat.name, directory=place)
        else:
            self._in.feed.tell("worktree.back", f"{seat.name}: its worktree is back", seat.name)
        self._changed(seat)


def words(seat: Seat, place: str) -> str:
    """What has happened, and the two ways on."""
    branch = f"; its branch is {seat.record.branch}" if seat.record.branch else ""
    return (
        f"its worktree {place} is gone{branch}. Nothing is made again by itself: put it back, or"
        f" begin anew with cockpit stop {seat.name}, cockpit worktrees remove {place},"
        f" cockpit start {seat.name}"
    )
