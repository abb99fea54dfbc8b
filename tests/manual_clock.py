"""A clock that stands still until it is advanced; held to the contract of the real one."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta


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
