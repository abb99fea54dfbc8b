"""The machine's clock. No other module reads the time."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime

from cockpit.adapters.process.process_table import boot_id
from cockpit.config.kernel import USES_LINUX


class SystemClock:
    """The machine's clock."""

    def __init__(self) -> None:
        self._boot: str | None = None
        self.epoch = time.time() - since_boot()
        """Unix time of this boot, by the current wall clock.

        A caller that has stored an earlier value sets it here, so that all supervisors of a boot
        agree."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds without suspend, so that a deadline does not pass while the machine sleeps."""
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
    """Seconds since boot, including suspend where the kernel counts it."""
    return time.clock_gettime(time.CLOCK_BOOTTIME if USES_LINUX else time.CLOCK_MONOTONIC)
