"""The machine's time: the only place that asks for it."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime

from cockpit.adapters.process.process_table import boot_id


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
