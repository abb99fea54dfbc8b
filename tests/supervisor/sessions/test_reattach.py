"""The process that an agent's record names is found by its marker, wherever it is; no other is."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING

import pytest

from cockpit.core.ids import PaneId
from cockpit.supervisor.sessions import reattach as reattaching
from cockpit.supervisor.sessions.reattach import reattach
from tests.supervisor.left_alone import Parts, flown, parts_of, until

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


async def adopted(parts: Parts) -> bool:
    return await reattach(parts.dependencies, parts.sessions, parts.agent)


async def test_nobody_is_found_in_a_seat_in_which_nobody_sat(cockpit: Cockpit) -> None:
    cockpit.configure(cockpit.agent())
    async with parts_of(cockpit) as parts:
        await parts.sleeper()
        assert not await parts.find()
        assert not parts.agent.alive


async def test_an_agent_is_found_in_its_pane_and_by_its_label_where_the_pane_is_another(
    cockpit: Cockpit,
) -> None:
    row = await flown(cockpit)
    async with parts_of(cockpit) as parts:
        assert await parts.find()
        assert parts.agent.process is not None
        assert parts.agent.process.pid == row.pid
        parts.agent.process = None
        parts.agent.change(pane=PaneId("%99"))
        assert await parts.find()
        assert parts.agent.record.pane == row.pane
        # Who sits and is known to live is asked nothing more.
        assert await adopted(parts)


async def test_a_label_that_two_panes_have_proves_nothing(cockpit: Cockpit) -> None:
    await flown(cockpit)
    async with parts_of(cockpit) as parts:
        other = await parts.sleeper()
        parts.agent.change(pane=None, pid=None)
        assert not await adopted(parts)
        assert not await parts.find()
        assert parts.agent.record.pane is None
        os.kill(other.pid, signal.SIGKILL)


async def test_a_deaf_agent_is_found_without_its_pane(cockpit: Cockpit) -> None:
    row = await flown(cockpit, faults="deaf", steps=900, step_tokens=1)
    assert row.pane is not None
    assert row.pid is not None
    cockpit.tmux("kill-pane", "-t", row.pane)
    async with parts_of(cockpit) as parts:
        assert await parts.find()
        assert parts.agent.process is not None
        assert (parts.agent.process.pid, parts.agent.record.pane) == (row.pid, None)
        os.kill(row.pid, signal.SIGKILL)
        await until(lambda: not parts.agent.alive)


async def test_of_an_agent_that_is_gone_the_pane_is_kept_if_it_is_there(cockpit: Cockpit) -> None:
    row = await flown(cockpit)
    assert row.pid is not None
    assert row.pane is not None
    os.kill(row.pid, signal.SIGKILL)
    async with parts_of(cockpit) as parts:
        await until(lambda: not parts.dependencies.processes.identify(row.pid or 0))
        while not (await parts.panes())[row.pane].dead:
            await asyncio.sleep(0.02)
        assert not await adopted(parts)
        assert not await parts.find()
        assert (parts.agent.process, parts.agent.record.pane) == (None, row.pane)
        cockpit.tmux("kill-pane", "-t", row.pane)
        assert not await parts.find()
        assert parts.agent.record.pane is None
        assert not await parts.find()
        assert not await adopted(parts)


async def test_a_launcher_is_given_a_moment_to_become_the_agent(
    cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch
) -> None:
    await flown(cockpit)
    cockpit.tmux("kill-server")
    async with parts_of(cockpit) as parts:
        run = parts.agent.record.run
        assert run is not None
        mine = await parts.sleeper(COCKPIT_RUN=run)
        parts.agent.change(pane=mine.id, pid=None, started=None, boot=None)
        assert await adopted(parts)
        assert parts.agent.process is not None
        assert parts.agent.process.pid == mine.pid
        os.kill(mine.pid, signal.SIGKILL)
        await until(lambda: not parts.agent.alive)

        foreign = await parts.sleeper()
        parts.agent.change(pane=foreign.id, pid=None, started=None, boot=None)
        # It is looked at again and again meanwhile, also if a busy machine finds its pane late.
        asyncio.get_running_loop().call_later(3, os.kill, foreign.pid, signal.SIGKILL)
        with monkeypatch.context() as patience:
            patience.setattr(reattaching, "LAUNCHES", 100_000)
            assert not await adopted(parts)
        stays = await parts.sleeper()
        parts.agent.change(pane=stays.id)
        assert not await adopted(parts)
        os.kill(stays.pid, signal.SIGKILL)
