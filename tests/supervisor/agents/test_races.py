"""Two clients that change one agent at the same time."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.core.errors import CockpitError
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Start, Stop
from tests.supervisor.conftest import LOOK, PATIENCE

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux

TRIES, BY_COMMAND = 8, 2
WORKTREE = '[agents.worktree]\nstrategy = "git_worktree"\n'
SLEEPS = 'runtime = "command"\ncommand = ["sh", "-c", "exec sleep 600"]\n'


def sleepers(home: Path) -> dict[int, str]:
    """Pids of the agents that sleep, with the marker that each carries."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cmdline").read_bytes() != b"sleep\x00600\x00":
                continue
            variables = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        marker = next((each for each in variables if each.startswith(b"COCKPIT_RUN=")), b"")
        if any(str(home).encode() in each for each in variables):
            found[int(entry.name)] = marker.partition(b"=")[2].decode()
    return found


async def sleeping(cockpit: Cockpit, pid: int) -> None:
    """Wait until the agent's process is the program that it was started for."""
    end = time.monotonic() + PATIENCE
    while pid not in sleepers(cockpit.home):
        assert time.monotonic() < end, f"{pid} never became the agent's program"
        await asyncio.sleep(LOOK)


def agree(cockpit: Cockpit, row: AgentStatus) -> None:
    """Row, database and processes tell of one and the same session, or of none."""
    assert cockpit.supervisor is not None
    store = cockpit.supervisor.dependencies.store
    agent = next(each for each in store.agents() if each.name == row.name)
    sessions = [each for job in store.jobs(row.name) for each in store.chain(job.id)]
    live = [each.id for each in sessions if each.state == "live"]
    processes = sleepers(cockpit.home)
    assert (agent.pid, agent.session) == (row.pid, row.session_id)
    assert processes == ({row.pid: agent.run} if row.pid else {})
    assert live == ([row.session_id] if row.pid else [])


async def command(cockpit: Cockpit, *words: str) -> tuple[int, str]:
    """What the command line answers: its exit code and what it printed."""
    running = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "cockpit", "--config", str(cockpit.config), *words),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    told, _ = await running.communicate()
    return running.returncode or 0, told.decode()


async def request(cockpit: Cockpit) -> tuple[int, str]:
    """The same by a request to the socket: without a process, two come closer together."""
    try:
        done = await cockpit.ask(Start(name="api", config=str(cockpit.config), named=True))
    except CockpitError as refusal:
        return refusal.exit_code, str(refusal)
    return 0, str(done)


async def test_two_starts_of_one_agent_leave_one_process_that_row_and_database_name(
    cockpit: Cockpit,
) -> None:
    async with cockpit.flying(cockpit.agent(more=SLEEPS + WORKTREE)):
        for number in range(TRIES):
            if number < BY_COMMAND:
                starts = [command(cockpit, "start", "api"), command(cockpit, "start", "api")]
            else:
                starts = [request(cockpit), request(cockpit)]
            answers = await asyncio.gather(*starts)
            codes = sorted(code for code, _ in answers)
            row = await cockpit.row()
            assert row.pid is not None
            await sleeping(cockpit, row.pid)
            agree(cockpit, row)
            assert codes == [0, 5], answers
            assert any("already running" in said for _, said in answers)
            assert await cockpit.events("agent.stragglers") == []
            await cockpit.ask(Stop(name="api"))
            agree(cockpit, await cockpit.row())
