"""A whole swap of the real Claude Code whose document a copy of its session has written."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cockpit.core import document
from cockpit.demo.flight import flight
from cockpit.demo.jobs import jobs_for
from cockpit.wire.status import AgentStatus

pytestmark = [pytest.mark.long, pytest.mark.claude, pytest.mark.tmux]
SECONDS = 120.0


async def test_the_successor_goes_on_from_what_the_copy_answered() -> None:
    with flight(jobs_for(1), keep=False, say=lambda _: None) as flown:
        assert flown.scratch.real, flown.scratch.cli
        config = flown.scratch.config
        asked = config.read_text()
        config.write_text(asked.replace('["agent", "facts"]', '["sdk", "facts"]'))
        client = flown.client

        async def swapped() -> AgentStatus:
            end = asyncio.get_running_loop().time() + SECONDS
            while True:
                (row,) = (await client.status()).agents
                if row.handoffs == 1 and row.handoff is None:
                    return row
                assert asyncio.get_running_loop().time() < end, (row, await client.events())
                await asyncio.sleep(0.1)

        await flown.start_agents()
        row = await swapped()
        (chain,) = await client.history(row.name)
        first, second = chain.sessions
        assert first.document is not None
        assert first.transcript is not None
        assert (first.writer, first.outcome) == ("sdk", "done")
        left = document.read(Path(first.document).read_text())
        assert "### Completed" in left.sections["Progress"]
        assert "### Commits of This Session" in left.sections["Verified Facts"]
        assert (second.id, second.began_with) == (row.session_id, first.document)
        # The copy is of nobody's chain, and the session that it was made of is as it was.
        assert Path(first.transcript).is_file()
        kinds = {each.kind for each in await client.events(limit=2000)}
        assert "handoff.writer_failed" not in kinds
