"""Time, real and by hand.

The real clock is the only place that asks the machine for the time. The other one stands still
until it is advanced: for tests and for rehearsals, shipped so that it is held to the same contract.
"""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta

from cockpit.adapters.process_table import boot_id


class SystemClock:
    """The machine's own time."""

    def __init__(self) -> None:
        self._boot: str | None = None
        self.epoch = time.time() - since_boot()
        """The unix time of this boot's beginning, as the wall clock has it now.

        Whoever keeps what was first found sets it, so that all supervisors of a boot agree.
        """

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Time asleep (suspend) does not count, so a deadline never passes while nobody ran."""
        return time.monotonic()

    def steady(self) -> float:
        return self.epoch + since_boot()

    def boot(self) -> str:
        if self._boot is None:
            self._boot = boot_id()
        return self._boot

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def since_boot() -> float:
    """Seconds since the machine began, asleep or not where the kernel counts that."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class ManualClock:
    """A clock that moves only when told to."""

    def __init__(self, now: datetime | None = None, boot: str = "manual") -> None:
        self._now = now or datetime(2026, 1, 1, tzinfo=UTC)
        self._monotonic = 1000.0
        self._epoch = self._now.timestamp() - self._monotonic
        self._boot = boot
        self._asleep: list[tuple[float, asyncio.Future[None]]] = []

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    def steady(self) -> float:
        return self._epoch + self._monotonic

    def boot(self) -> str:
        return self._boot

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock has been advanced this far; zero or less only yields."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (self._monotonic + seconds, waiting)
        self._asleep.append(entry)
        try:
            await waiting
        finally:
            if entry in self._asleep:
                self._asleep.remove(entry)

    @property
    def asleep(self) -> int:
        """How many sleeps have not ended."""
        return len(self._asleep)

    @property
    def next_wake(self) -> float | None:
        """Seconds until the first sleeper wakes; None when nobody sleeps."""
        ends = [end for end, waiting in self._asleep if not waiting.done()]
        return min(ends) - self._monotonic if ends else None

    def advance(self, seconds: float) -> None:
        """Move on and wake, in order, whoever slept until then; they run at the next await."""
        self._monotonic += seconds
        self._now += timedelta(seconds=seconds)
        due = sorted((e for e in self._asleep if e[0] <= self._monotonic), key=lambda e: e[0])
        for _, waiting in due:
            if not waiting.done():
                waiting.set_result(None)

    def set_wall(self, now: datetime) -> None:
        """Let the wall clock jump; `monotonic` and `steady` stay where they are."""
        self._now = now
