"""Watching can be ended at any moment, also at the one in which something happens."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


async def test_a_watch_that_is_woken_as_it_is_cancelled_ends(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent()) as supervisor:
        reading = asyncio.create_task(supervisor.watch.transcripts.follow())
        await asyncio.sleep(0)  # one turn of the loop: it waits for something to happen
        supervisor.watch.transcripts.wake()
        reading.cancel()
        done, _ = await asyncio.wait({reading}, timeout=60)
        ended = bool(done)
        reading.cancel()
        assert ended
