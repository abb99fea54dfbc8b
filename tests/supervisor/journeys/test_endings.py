"""Agents whose terminal, process or supervisor ends out of turn: what is said of it."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from cockpit.adapters.process.processes import LocalProcesses
from cockpit.adapters.tmux.panes import Tmux
from cockpit.core.capabilities import EndSignal
from cockpit.core.errors import Failed, NotNow
from cockpit.core.ids import PaneId
from cockpit.ports.panes import Pane
from cockpit.ports.processes import Ending, ProcessId
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.main import dependencies
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Attach, Down, Handoff, Refuse, Stop

if TYPE_CHECKING:
    from cockpit.config.paths import Places
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


def kill_tmux(cockpit: Cockpit) -> None:
    os.kill(int(cockpit.tmux("display-message", "-p", "#{pid}")), signal.SIGKILL)


class Late(LocalProcesses):
    """Identifies a process when it has ended, as on a machine that is busy."""

    def identify(self, pid: int) -> ProcessId | None:
        end = time.monotonic() + 10
        while (found := super().identify(pid)) is not None and time.monotonic() < end:
            time.sleep(0.01)
        return found


async def test_an_agent_that_ends_before_it_is_watched_is_told_as_ended(cockpit: Cockpit) -> None:
    cockpit.world = lambda places: replace(dependencies(places), processes=Late())
    config = cockpit.agent(more='runtime = "command"\ncommand = ["sh", "-c", "exit 3"]')

    async with cockpit.flying(config):
        await cockpit.start()
        told = await cockpit.event("agent.exited")
        assert told.data["status"] == 3
        row = await cockpit.until(lambda row: row.state == "exited")
        assert row.pid is None
        await cockpit.start()
        await cockpit.event("agent.exited", number=2)


class Slow(Tmux):
    """Takes a moment to list its panes, as on a machine that is busy."""

    async def look(self) -> dict[PaneId, Pane]:
        await asyncio.sleep(0.5)
        return await super().look()


def slowly(places: Places) -> Dependencies:
    found = dependencies(places)
    panes = Slow(places.tmux_socket, places.tmux_config, found.environment)
    return replace(found, panes=panes)


@pytest.mark.parametrize("code", [0, 3])
async def test_an_end_is_shown_with_its_exit_code_from_the_beginning(
    cockpit: Cockpit, code: int
) -> None:
    cockpit.world = slowly
    command = f"sleep 0.5; exit {code}"
    config = cockpit.agent(more=f'runtime = "command"\ncommand = ["sh", "-c", "{command}"]')
    async with cockpit.flying(config):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.state == "exited")
        assert (row.exit_code, row.note) == (code, f"ended with exit code {code}.")


async def test_a_row_names_no_pane_that_is_gone(cockpit: Cockpit) -> None:
    one = cockpit.agent("one", "observe", steps=900, step_tokens=1)
    deaf = cockpit.agent("deaf", "observe", faults="deaf", steps=900, step_tokens=1)
    async with cockpit.flying(one, deaf):
        for name in ("one", "deaf"):
            await cockpit.start(name)
            await cockpit.until(lambda row: row.state == "working", name)
        kill_tmux(cockpit)
        gone = await cockpit.until(lambda row: row.state == "needs_you", "one")
        gone = await cockpit.until(lambda row: row.pane is None, "one")
        assert (gone.state, gone.pid) == ("needs_you", None)
        assert gone.needs is not None
        assert gone.needs.kind == "resume"
        lives = await cockpit.until(lambda row: row.pane is None, "deaf")
        assert lives.pid is not None
        assert "is still running without" in (lives.note or "")
        refused = await cockpit.refused(Attach(name="deaf"))
        assert isinstance(refused, NotNow)
        assert "cockpit stop deaf" in refused.hint

    # Another supervisor finds the same.
    async with cockpit.flying():
        assert (await cockpit.row("one")).state == "needs_you"
        again = await cockpit.row("deaf")
        assert (again.pid, again.pane) == (lives.pid, None)
        await cockpit.ask(Stop(name="deaf"))
        assert cockpit.living(lives) == []


@pytest.mark.long
async def test_a_new_session_that_asks_for_trust_is_told_as_that(cockpit: Cockpit) -> None:
    table = cockpit.agent(steps=4, pause=2, step_tokens=100, faults="successor:trust")
    async with cockpit.flying(table) as supervisor:
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        kinds: list[str] = []
        await cockpit.ask(Handoff(name="api"))
        # For an instant the CLI says only that a dialog is open.
        await cockpit.until(lambda row: seen(row, kinds) and kinds[-1] == "trust")
        assert set(kinds) <= {"question", "trust"}
        pane = supervisor.fleet.agent("api").record.pane
        assert pane is not None
        await supervisor.dependencies.panes.press(pane, "Enter")
        await cockpit.until(lambda row: row.handoffs == 1 and row.needs is None)


def seen(row: AgentStatus, kinds: list[str]) -> bool:
    """Remembers what is needed; true once it is anything."""
    kinds += [row.needs.kind] if row.needs is not None else []
    return bool(kinds)


async def test_a_refusal_of_a_dead_agents_review_says_that_it_is_dead(cockpit: Cockpit) -> None:
    table = cockpit.agent(mode="prompt", steps=4, pause=2, step_tokens=100)
    async with cockpit.flying(table):
        row = await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        await cockpit.ask(Handoff(name="api"))
        await cockpit.until(lambda row: row.needs is not None and row.needs.kind == "review")
        assert row.pid is not None
        os.kill(row.pid, signal.SIGKILL)
        await cockpit.until(lambda row: row.pid is None)
        done = await cockpit.ask(Refuse(name="api"))
        assert "is not running" in done.message
        assert f"--resume {row.session_id}" in done.message
        (chain,) = await cockpit.client.history("api")
        assert [each.state for each in chain.sessions] == ["ended"]


class Undying(LocalProcesses):
    """Where one process hangs in the kernel."""

    async def end(
        self,
        process: ProcessId | None,
        marker: str,
        *,
        patience: float = 6.0,
        first: EndSignal = "TERM",
    ) -> Ending:
        if marker.startswith("stuck-") and process is not None:
            return Ending(gone=False, killed=True, survivors=(process.pid,))
        return await super().end(process, marker, patience=patience, first=first)


def with_one_undying(places: Places) -> Dependencies:
    return replace(dependencies(places), processes=Undying())


@pytest.mark.long
async def test_down_with_agents_tells_whom_it_could_not_end(cockpit: Cockpit) -> None:
    cockpit.world = with_one_undying
    both = [cockpit.agent(name, "observe", steps=900, step_tokens=1) for name in ("stuck", "free")]
    async with cockpit.flying(*both) as supervisor:
        stuck = await cockpit.start("stuck")
        free = await cockpit.start("free")
        refused = await cockpit.refused(Down(agents=True))
        assert isinstance(refused, Failed)
        assert f"Processes {stuck.pid} do not end" in refused.detail
        assert not supervisor.life.ended.is_set()
        await cockpit.until(lambda row: row.pid is None, "free")
        await cockpit.lives(free, stuck)
