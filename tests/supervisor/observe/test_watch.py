"""Watching can be ended at any moment, also at the one in which something happens."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.config.kernel import USES_LINUX
from cockpit.supervisor.observe import transcripts
from tests.adapters.test_transcript_scan import reply
from tests.supervisor.observe.test_clock_jumps import Watched

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


@pytest.mark.skipif(not USES_LINUX, reason="needs inotify")
async def test_a_written_transcript_is_read_without_a_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seconds in ("CALM", "HOT"):
        monkeypatch.setattr(transcripts, seconds, 3600.0)
    watched = Watched(tmp_path)
    reading = asyncio.create_task(watched.watch.transcripts.follow())
    try:
        async with asyncio.timeout(120):
            for tokens in (1000, 2000, 3000):
                with watched.record.open("ab") as file:
                    file.write(reply(tokens, f"m{tokens}"))
                while watched.agent.session_state.gauge.tokens != tokens:
                    await asyncio.sleep(0)
    finally:
        reading.cancel()
        await asyncio.wait({reading})
        watched.parts.store.close()
