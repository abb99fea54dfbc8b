"""Implement the port `Clock` with the clocks of this machine."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime

from cockpit.adapters.process.process_table import boot_id
from cockpit.config.kernel import USES_LINUX


class SystemClock:
    """The wall clock, the monotonic clock and the boot id of this machine."""

    def __init__(self) -> None:
        self._boot: str | None = None
        self.epoch = time.time() - since_boot()
        """Unix time of this boot, by the current wall clock. A caller with a stored value assigns
        it here, so that all supervisors of a boot use the same value."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds since boot, without the time that the machine was suspended."""
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
    """Return seconds since boot, including the time that the machine was suspended, if the kernel
    reports it."""
    return time.clock_gettime(time.CLOCK_BOOTTIME if USES_LINUX else time.CLOCK_MONOTONIC)
