"""What a killed supervisor left of a stop, finished by the next one."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.adapters.store.store import Store
from tests.long_cases import cases

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


@pytest.mark.parametrize("ended", cases(True, long=[False]), ids=["ended", "alive"])
async def test_a_stop_that_was_cut_short_is_finished(cockpit: Cockpit, ended: bool) -> None:
    await cockpit.launch(cockpit.agent(mode="observe", steps=500))
    row = await cockpit.start()
    await cockpit.lives(row)
    cockpit.kill()
    assert row.pid is not None
    with closing(Store(cockpit.places.database).open()) as store:
        (seat,) = store.agents()
        store.save_agent(replace(seat, wanted=False, note="stopped by you"))
    if ended:
        os.kill(row.pid, signal.SIGKILL)
        while cockpit.living(row):
            await asyncio.sleep(0.02)
    await cockpit.launch()
    after = await cockpit.row()
    assert (after.state, after.pid, after.needs) == ("stopped", None, None)
    assert cockpit.living(row) == []
    assert len(await cockpit.events("agent.stopped")) == 1
    assert await cockpit.events("agent.exited") == []
    with closing(Store(cockpit.places.database).open()) as store:
        assert [seat.pid for seat in store.agents()] == [None]
        assert store.live_sessions() == []
    # Once finished, it is not told of again.
    cockpit.kill()
    await cockpit.launch()
    assert len(await cockpit.events("agent.stopped")) == 1


@pytest.mark.long
async def test_the_end_of_a_new_session_that_replied_and_was_not_confirmed_is_recorded(
    cockpit: Cockpit,
) -> None:
    await cockpit.launch(cockpit.agent(mode="auto", steps=9))
    first = await cockpit.start()
    async for event in cockpit.client.follow():
        if event.kind == "handoff.confirming":
            break
    cockpit.kill()
    with closing(Store(cockpit.places.database).open()) as store:
        (seat,) = store.agents()
        assert seat.session is not None
        session = store.session(seat.session)
    assert session is not None
    assert session.id != first.session_id
    assert session.transcript is not None
    transcript = Path(session.transcript)
    while not transcript.exists() or '"type": "assistant"' not in transcript.read_text():
        await asyncio.sleep(0.02)
    for pid in cockpit.living(first):
        os.kill(pid, signal.SIGKILL)
    while cockpit.living(first):
        await asyncio.sleep(0.02)
    for _ in range(2):
        await cockpit.launch()
        await cockpit.event("handoff.confirmed")
        await cockpit.event("agent.exited")
        with closing(Store(cockpit.places.database).open()) as store:
            assert store.live_sessions() == []
        cockpit.kill()
    await cockpit.launch()
    assert len(await cockpit.events("agent.exited")) == 1
