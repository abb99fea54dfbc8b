"""Time."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Deadlines are kept in `monotonic` seconds, so that a jump of the wall clock moves none."""

    def now(self) -> datetime:
        """The wall clock, UTC, for people and records."""

    def monotonic(self) -> float:
        """Seconds since boot, the same for every process of this boot."""

    def steady(self) -> float:
        """Unix seconds for order and elapsed time, the same after a restart: no jump moves them.

        What the wall clock said when this boot was first seen, moved on since, sleep included.
        """

    def boot(self) -> str:
        """The kernel's boot id: `monotonic` of another boot means nothing."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""
