"""What is said of a process that ended: what its terminal shows, and no more than is known."""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from cockpit.adapters.tmux.panes import Tmux
from cockpit.supervisor.agents.exit_reason import find_exit, without_panes
from cockpit.supervisor.dependencies import Dependencies
from tests.supervisor.left_alone import Parts, elsewhere, parts_of, until

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


def mute(parts: Parts) -> Dependencies:
    """The same world, in which tmux cannot be asked."""
    places, held = parts.dependencies.places, parts.dependencies
    panes = Tmux(
        places.tmux_socket,
        places.tmux_config,
        held.environment,
        program="/nonexistent/tmux",
    )
    return replace(held, panes=panes)


async def dead_pane(parts: Parts) -> None:
    """The agent names a pane whose process was killed."""
    pane = await parts.sleeper()
    parts.agent.change(pane=pane.id)
    os.kill(pane.pid, signal.SIGKILL)
    while not (await parts.panes())[pane.id].dead:
        await asyncio.sleep(0.02)


def test_a_dead_pane_tells_status_signal_and_last_words(cockpit: Cockpit) -> None:
    async def journey() -> None:
        cockpit.configure(cockpit.agent())
        async with parts_of(cockpit) as parts:
            await dead_pane(parts)
            told = await find_exit(parts.dependencies, parts.agent)
            assert told.signal == signal.SIGKILL
            assert "Pane is dead" not in told.last_lines
            silent = await find_exit(mute(parts), parts.agent)
            assert (silent.status, silent.signal, silent.last_lines) == (None, None, "")

    asyncio.run(journey())


def test_a_pane_that_is_gone_is_told_from_a_server_that_is(cockpit: Cockpit) -> None:
    async def journey() -> None:
        cockpit.configure(cockpit.agent())
        async with parts_of(cockpit) as parts:
            assert (await find_exit(parts.dependencies, parts.agent)).last_lines == ""
            pane = await parts.sleeper("web")
            parts.agent.change(pane=elsewhere(pane))
            told = await find_exit(parts.dependencies, parts.agent)
            assert told.last_lines == "Its pane was closed."
            assert await without_panes(parts.dependencies, parts.fleet) == [parts.agent]
            assert await without_panes(mute(parts), parts.fleet) == []
            os.kill(pane.pid, signal.SIGKILL)
            server = int(cockpit.tmux("display-message", "-p", "#{pid}"))
            cockpit.tmux("kill-server")
            await until(lambda: not parts.dependencies.processes.identify(server))
            told = await find_exit(parts.dependencies, parts.agent)
            assert told.last_lines.startswith("The tmux server has ended")

    asyncio.run(journey())
