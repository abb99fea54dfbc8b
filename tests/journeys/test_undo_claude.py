"""Undoing a swap of the real Claude Code: the conversation is back, and it goes on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cockpit.demo.flight import flight
from cockpit.demo.jobs import jobs_for
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Send, Undo

pytestmark = [pytest.mark.claude, pytest.mark.tmux, pytest.mark.long]
SECONDS = 300.0
"""For one step; a whole handoff of the real CLI takes three minutes on a busy machine."""


async def test_the_real_cli_is_taken_back_and_goes_on_where_it_was() -> None:
    with flight(jobs_for(1), keep=False, say=lambda _: None) as flown:
        assert flown.scratch.real, flown.scratch.cli
        client = flown.client

        async def row() -> AgentStatus:
            (found,) = (await client.status()).agents
            return found

        async def until(true: Callable[[AgentStatus], object]) -> AgentStatus:
            end = asyncio.get_running_loop().time() + SECONDS
            while not true(found := await row()):
                assert asyncio.get_running_loop().time() < end, found
                await asyncio.sleep(0.1)
            return found

        await flown.start_agents()
        first = await until(lambda row: row.session_number == 1 and row.pid)
        await until(lambda row: row.handoffs == 1 and row.handoff is None)
        second = await until(lambda row: row.state in {"idle", "done"})

        done = await client.ask(Undo(name=first.name))
        assert "back in session 1" in done.message
        back = await until(lambda row: row.state in {"idle", "done"})
        assert (back.session_id, back.session_number) == (first.session_id, 1)
        assert (back.pane, back.handoffs) == (first.pane, 1)
        assert not Path(f"/proc/{second.pid}").exists()
        assert back.context.tokens
        (chain,) = await client.history(first.name)
        states = [each.state for each in chain.sessions]
        assert states == ["live", "undone"]

        assert back.transcript is not None
        before = replies(Path(back.transcript))
        await client.ask(Send(name=first.name, text="What did you do last?"))
        await until(lambda row: replies(Path(str(row.transcript))) > before)
        assert (await row()).session_id == first.session_id


def replies(transcript: Path) -> int:
    """Messages of the model in a session's record."""
    lines = (json.loads(line) for line in transcript.read_text().splitlines())
    return sum(line.get("type") == "assistant" for line in lines)
