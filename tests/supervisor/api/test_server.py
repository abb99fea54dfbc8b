"""The server of the socket ends on request, and wakes up for nothing else."""

from __future__ import annotations

import asyncio
from pathlib import Path

from starlette.applications import Starlette

from cockpit.supervisor.api.listener import bind
from cockpit.supervisor.api.server import server


async def test_it_sleeps_without_a_timer_until_it_is_to_end(own_home: Path) -> None:
    serving = server(Starlette())
    task = asyncio.create_task(serving._serve(sockets=[bind(own_home / "s")]))
    while not serving.started:
        await asyncio.sleep(0)
    for _ in range(3):
        await asyncio.sleep(0)

    assert not asyncio.get_running_loop()._scheduled  # type: ignore[attr-defined]
    assert not task.done()

    serving.should_exit = True
    await task
    assert serving.should_exit
