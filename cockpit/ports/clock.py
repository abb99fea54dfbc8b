"""The interface to the machine's clocks."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """The clocks of this machine. Deadlines use `monotonic`, because the wall clock can change."""

    def now(self) -> datetime:
        """Return the wall clock's time in UTC, for users and records."""

    def monotonic(self) -> float:
        """Return the seconds since boot, without suspended time; the same for all processes."""

    def steady(self) -> float:
        """Return unix seconds that ignore changes of the wall clock, for order and elapsed time.

        When cockpit first runs after a boot, the value is the wall clock's time. From then on, it
        grows even while the machine is suspended, and continues across restarts of the supervisor.
        """

    def boot(self) -> str:
        """Return the kernel's boot id; `monotonic` values of different boots are not comparable."""

    async def sleep(self, seconds: float) -> None:
        """Wait for this number of seconds."""
