"""Both clocks keep the same promises; the manual one moves only by hand."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from cockpit.adapters.clock import SystemClock
from cockpit.ports.clock import Clock
from tests.manual_clock import ManualClock


async def test_the_real_clock_tells_utc_and_the_boot() -> None:
    clock: Clock = SystemClock()
    before = clock.monotonic()
    assert clock.now().tzinfo is UTC
    assert abs(datetime.now(UTC) - clock.now()) < timedelta(seconds=5)
    await clock.sleep(0.01)
    assert clock.monotonic() >= before + 0.01
    assert clock.boot() == SystemClock().boot() != ""


async def test_sleepers_wake_in_order_and_not_before_their_time() -> None:
    clock = ManualClock()
    woken: list[str] = []

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append(name)

    tasks = [asyncio.create_task(sleeper(n, s)) for n, s in [("late", 20), ("early", 10)]]
    await asyncio.sleep(0)
    assert (clock.asleep, clock.next_wake) == (2, 10)
    clock.advance(9.5)
    await asyncio.sleep(0)
    assert woken == []
    clock.advance(100)
    await asyncio.gather(*tasks)
    assert woken == ["early", "late"]
    assert clock.asleep == 0
    assert clock.next_wake is None


async def test_a_jump_of_the_wall_clock_wakes_nobody() -> None:
    clock = ManualClock()
    before = clock.monotonic()
    task = asyncio.create_task(clock.sleep(1))
    await asyncio.sleep(0)
    clock.set_wall(clock.now() + timedelta(days=3650))
    await asyncio.sleep(0)
    assert not task.done()
    assert clock.monotonic() == before
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert clock.asleep == 0
