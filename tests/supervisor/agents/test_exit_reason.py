"""What is said of a process that ended: what its terminal shows, and no more than is known."""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from cockpit.adapters.agents import runtime
from cockpit.adapters.tmux.panes import Tmux
from cockpit.core.errors import OsProblem
from cockpit.core.ids import PaneId
from cockpit.ports.panes import Pane, PanesSilent
from cockpit.supervisor.agents import exit_reason
from cockpit.supervisor.agents.agent import Exit, LostPane, PaneLoss
from cockpit.supervisor.agents.exit_reason import HANGUP_SECONDS, find_exit, lost_panes
from cockpit.supervisor.dependencies import Dependencies
from tests.supervisor.left_alone import Parts, elsewhere, flown, parts_of, until

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


class Interrupted(Tmux):
    """The server ends while it is asked for its panes, and does not answer at first."""

    silent = 2
    """How often it is asked in vain whether it has ended."""

    async def look(self) -> dict[PaneId, Pane]:
        raise PanesSilent("server exited unexpectedly")

    async def server_pid(self) -> int | None:
        if self.silent:
            self.silent -= 1
            raise PanesSilent("no answer")
        return await super().server_pid()


class Late(Tmux):
    """The server learns of a process's end later than the supervisor."""

    looks = 0

    async def look(self) -> dict[PaneId, Pane]:
        self.looks += 1
        found = await super().look()
        if self.looks > 2:
            return found
        alive = {"dead": False, "exit_status": None, "exit_signal": None}
        return {ident: replace(pane, **alive) for ident, pane in found.items()}  # type: ignore[arg-type]


def interrupted(parts: Parts, silent: int = 2) -> Dependencies:
    """The same world, in which tmux breaks off while it lists its panes."""
    places, held = parts.dependencies.places, parts.dependencies
    panes = Interrupted(places.tmux_socket, places.tmux_config, held.environment)
    panes.silent = silent
    return replace(held, panes=panes)


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


async def test_a_server_that_does_not_know_of_the_end_yet_is_asked_again(
    cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a single answer takes as long as all of them should."""
    monkeypatch.setattr(exit_reason, "SERVER_ENDS", 0.0)
    cockpit.configure(cockpit.agent())
    async with parts_of(cockpit) as parts:
        await dead_pane(parts)
        places, held = parts.dependencies.places, parts.dependencies
        late = Late(places.tmux_socket, places.tmux_config, held.environment)
        told = await find_exit(replace(held, panes=late), parts.agent)
        assert told.signal == signal.SIGKILL


async def test_a_dead_pane_tells_status_signal_and_last_words(cockpit: Cockpit) -> None:
    cockpit.configure(cockpit.agent())
    async with parts_of(cockpit) as parts:
        await dead_pane(parts)
        told = await find_exit(parts.dependencies, parts.agent)
        assert told.signal == signal.SIGKILL
        assert "Pane is dead" not in told.last_lines
        silent = await find_exit(mute(parts), parts.agent)
        assert (silent.status, silent.signal, silent.last_lines) == (None, None, "")


class Restarting(Tmux):
    """Each dead pane has the exit status with which Gemini asks to be started again."""

    async def look(self) -> dict[PaneId, Pane]:
        found = await super().look()
        return {
            ident: replace(pane, exit_status=199, exit_signal=None) for ident, pane in found.items()
        }


async def test_a_cli_that_asks_to_be_started_again_is_told_so(cockpit: Cockpit) -> None:
    cockpit.configure(cockpit.agent())
    async with parts_of(cockpit) as parts:
        await dead_pane(parts)
        places, held = parts.dependencies.places, parts.dependencies
        panes = Restarting(places.tmux_socket, places.tmux_config, held.environment)
        world = replace(held, panes=panes)
        assert "Start it again" not in (await find_exit(world, parts.agent)).last_lines
        parts.agent.runtime = runtime("gemini", cockpit.home)
        told = (await find_exit(world, parts.agent)).last_lines
        assert told == ("Gemini CLI ended to apply your answer. Start it again: cockpit start api")


async def test_a_pane_that_is_gone_is_told_from_a_server_that_is(cockpit: Cockpit) -> None:
    cockpit.configure(cockpit.agent())
    async with parts_of(cockpit) as parts:
        assert (await find_exit(parts.dependencies, parts.agent)).last_lines == ""
        pane = await parts.sleeper("web")
        parts.agent.change(pane=pane.id)
        assert await lost_panes(parts.dependencies, parts.fleet) == []
        parts.agent.change(pane=elsewhere(pane))
        told = await find_exit(parts.dependencies, parts.agent)
        assert (told.lost, told.last_lines) == (LostPane.CLOSED, "")
        assert told.description == "ended, status unknown. The agent's pane was closed."
        ((agent, loss),) = await lost_panes(parts.dependencies, parts.fleet)
        assert (agent, loss.why) == (parts.agent, LostPane.CLOSED)
        assert await lost_panes(mute(parts), parts.fleet) == []
        os.kill(pane.pid, signal.SIGKILL)
        server = int(cockpit.tmux("display-message", "-p", "#{pid}"))
        told = await find_exit(interrupted(parts), parts.agent)
        assert told.lost is None
        cockpit.tmux("kill-server")
        await until(lambda: not parts.dependencies.processes.identify(server))
        told = await find_exit(parts.dependencies, parts.agent)
        assert told.lost is LostPane.SERVER_ENDED
        told = await find_exit(interrupted(parts), parts.agent)
        assert told.lost is LostPane.SERVER_ENDED
        told = await find_exit(interrupted(parts, silent=1000), parts.agent)
        assert told.lost is None
        ((agent, loss),) = await lost_panes(parts.dependencies, parts.fleet)
        assert loss.why is LostPane.SERVER_ENDED


async def test_a_process_that_ends_just_after_its_pane_ended_with_it(cockpit: Cockpit) -> None:
    cockpit.configure(cockpit.agent())
    async with parts_of(cockpit) as parts:
        agent, clock = parts.agent, parts.dependencies.clock
        assert agent.record.pane is None
        for why in LostPane:
            agent.lost_pane = PaneLoss(why, clock.monotonic())
            assert (await find_exit(parts.dependencies, agent)).lost is why
            agent.lost_pane = PaneLoss(why, clock.monotonic() - HANGUP_SECONDS - 1)
            assert (await find_exit(parts.dependencies, agent)).lost is None


async def test_an_end_is_on_the_disk_before_it_is_in_memory(cockpit: Cockpit) -> None:
    await flown(cockpit)
    async with parts_of(cockpit) as parts:
        agent, store = parts.agent, parts.dependencies.store
        events = parts.dependencies.event_log
        last = events.since(0, 100)[-1].id
        held, end = agent.record, Exit(1.0, status=3, last_lines="no such model")
        store._database.execute("pragma query_only = on")
        with pytest.raises(OsProblem):
            parts.sessions.record_exit(agent, end)
        assert agent.record == held
        assert agent.session is not None
        assert agent.session.state == "live"
        store._database.execute("pragma query_only = off")
        parts.sessions.record_exit(agent, end)
        assert store.agents() == [agent.record]
        assert agent.record.ending == "ended with exit code 3. no such model"
        assert agent.session.state == "ended"
        (told,) = events.since(last, 100)
        assert (told.kind, told.text) == ("agent.exited", f"api {agent.record.ending}")
        assert told.data == {"status": 3, "signal": None, "completed": False, "told": False}
        assert store.session(agent.session.id) == agent.session


async def test_an_end_that_nobody_saw_leaves_its_description_empty(cockpit: Cockpit) -> None:
    await flown(cockpit)
    async with parts_of(cockpit) as parts:
        parts.sessions.record_exit(parts.agent, None)
        (*_, told) = parts.dependencies.event_log.since(0, 100)
        assert told.text == "api ended while no supervisor was running"
        assert parts.agent.record.ending is None
        assert parts.agent.session is not None
        assert parts.agent.session.state == "ended"
