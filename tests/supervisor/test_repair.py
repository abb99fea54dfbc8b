"""What a killed supervisor left of a stop, finished by the next one."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from cockpit.adapters.store.store import Store

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


@pytest.mark.parametrize("ended", [True, False], ids=["ended", "alive"])
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
