"""What a client is told whose request is under way when the supervisor ends."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from cockpit.core.errors import NotNow
from cockpit.wire.verbs import Down, Start, Stop

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


async def test_a_request_that_is_cut_off_by_down_gets_the_reason(cockpit: Cockpit) -> None:
    table = cockpit.agent(steps=500, step_tokens=10, faults="deaf")
    await cockpit.launch(table)
    await cockpit.ask(Start(name="api"))
    await cockpit.until(lambda row: row.state == "working")
    # It ignores TERM, so its end takes longer than the supervisor waits for a request.
    stopping = asyncio.create_task(cockpit.refused(Stop(name="api")))
    await cockpit.until(lambda row: row.note == "stopped by you")
    await cockpit.ask(Down())
    refusal = await stopping
    assert isinstance(refusal, NotNow)
    assert refusal.title == "The supervisor is shutting down"
    cockpit.kill()
    async with cockpit.flying():
        await cockpit.until(lambda row: row.pid is None)
