"""Time."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """The clocks of this machine. Deadlines use `monotonic`, which no clock change moves."""

    def now(self) -> datetime:
        """The wall clock, UTC, for users and records."""

    def monotonic(self) -> float:
        """Seconds since boot, the same for all processes of this boot."""

    def steady(self) -> float:
        """Unix seconds for order and elapsed time; a change of the wall clock does not move them.

        Counts on from the wall clock's value when this boot was first seen, including sleep. A
        restart of the supervisor does not change it.
        """

    def boot(self) -> str:
        """The kernel's boot id; `monotonic` values of different boots cannot be compared."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""
