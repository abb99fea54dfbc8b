"""A disk that takes nothing more, in the middle of handoffs: told, waited out, nothing lost.

The kernel refuses: the supervisor's process may not let any file grow. Its agents may.
"""

from __future__ import annotations

import asyncio
import resource
from typing import TYPE_CHECKING

import pytest

from cockpit.core.errors import Failed
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Approve, Handoff

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


def fill(pid: int) -> None:
    """From now on no file of this process may grow."""
    _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, hard))


def clear(pid: int) -> None:
    _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))


def swapped(row: AgentStatus) -> bool:
    return row.handoffs == 1 and row.handoff is None


def stalled(row: AgentStatus) -> bool:
    return row.needs is not None and "cannot go on" in row.needs.detail


def test_a_handoff_that_cannot_be_written_down_stands_still_and_goes_on(cockpit: Cockpit) -> None:
    async def journey() -> None:
        pid = await cockpit.launch(cockpit.agent(steps=200, step_tokens=100, pace=0.1))
        first = await cockpit.start()
        await cockpit.until(lambda row: row.activity)
        await cockpit.ask(Handoff(name="api"))
        fill(pid)
        waits = await cockpit.until(stalled)
        assert waits.needs is not None
        assert waits.state == "needs_you"
        assert waits.needs.kind == "failed"
        assert "disk" in waits.needs.detail
        assert "tried again" in waits.needs.detail
        assert (waits.pid, waits.session_id) == (first.pid, first.session_id)
        assert cockpit.living(waits) == [first.pid]
        clear(pid)
        second = await cockpit.until(swapped)
        assert second.pid != first.pid
        assert cockpit.living(second) == [second.pid]
        assert second.needs is None

    asyncio.run(journey())


def test_what_the_pilot_says_is_refused_while_it_cannot_be_written_down(cockpit: Cockpit) -> None:
    async def journey() -> None:
        agent = cockpit.agent(mode="prompt", steps=9, pause=2, step_tokens=100)
        pid = await cockpit.launch(agent)
        first = await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        fill(pid)
        assert isinstance(await cockpit.refused(Handoff(name="api")), Failed)
        assert (await cockpit.row()).handoff is None
        clear(pid)
        await cockpit.ask(Handoff(name="api"))
        await cockpit.until(lambda row: row.needs is not None and row.needs.kind == "review")
        fill(pid)
        assert isinstance(await cockpit.refused(Approve(name="api")), Failed)
        row = await cockpit.row()
        assert row.handoff is not None
        assert (row.handoff.phase, row.pid) == ("review", first.pid)
        clear(pid)
        await cockpit.ask(Approve(name="api"))
        await cockpit.until(swapped)

    asyncio.run(journey())
