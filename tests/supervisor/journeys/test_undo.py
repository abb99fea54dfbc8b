"""Going back to the session before, as a user does it; and when the supervisor dies meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.core.errors import CockpitError, NotNow
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Handoff, Refuse, Undo

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


def idle_at(number: int) -> Callable[[AgentStatus], bool]:
    """A condition: the session of this place in the chain waits, and no handoff is under way."""
    return lambda row: (
        row.session_number == number and row.handoff is None and row.state in {"idle", "done"}
    )


async def twice_handed_off(cockpit: Cockpit) -> list[AgentStatus]:
    """The rows of three sessions, the last of which waits."""
    rows = [await cockpit.start()]
    for number in (1, 2):
        rows[-1] = await cockpit.until(idle_at(number))
        await cockpit.ask(Handoff(name="api"))
        rows.append(await cockpit.until(idle_at(number + 1)))
    return rows


@pytest.mark.long
async def test_undo_twice_leads_back_to_the_first_session(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(steps=4, pause=2, step_tokens=100)):
        first, second, third = await twice_handed_off(cockpit)

        await cockpit.ask(Undo(name="api"))
        back = await cockpit.until(lambda row: row.pid not in (None, third.pid))
        assert (back.session_id, back.session_number) == (second.session_id, 2)
        assert (back.pane, back.handoffs) == (first.pane, 2)
        assert "session 3 was undone" in (back.note or "")
        # The stand-in counts from nothing when it is opened again; nothing becomes cheaper.
        rested = await cockpit.until(idle_at(2))
        assert (rested.chain_cost_usd or 0) >= (third.chain_cost_usd or 1)

        await cockpit.ask(Undo(name="api"))
        again = await cockpit.until(lambda row: row.pid not in (None, back.pid))
        assert (again.session_id, again.session_number) == (first.session_id, 1)
        await cockpit.until(idle_at(1))
        await cockpit.lives(again)
        (chain,) = await cockpit.client.history("api")
        states = [each.state for each in chain.sessions]
        assert states == ["live", "undone", "undone"]
        undone = [each.undone for session in chain.sessions for each in session.handoffs]
        assert undone == [True, True]
        told = await cockpit.events("handoff.undone")
        assert [each.data["new_session"] for each in told] == [
            second.session_id,
            first.session_id,
        ]

        # What comes next has a place of its own in the chain.
        await cockpit.ask(Handoff(name="api"))
        await cockpit.until(idle_at(4))


@pytest.mark.long
async def test_two_hurried_undos_go_back_by_one(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(steps=4, pause=2, step_tokens=100)):
        _, second, _ = await twice_handed_off(cockpit)
        undos = (cockpit.client.ask(Undo(name="api")) for _ in range(2))
        answers = await asyncio.gather(*undos, return_exceptions=True)
        assert sum(isinstance(each, NotNow) for each in answers) == 1
        assert (await cockpit.row()).session_id == second.session_id


@pytest.mark.long
async def test_an_undo_whose_record_is_gone_is_refused_and_ends_nobody(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(steps=9)):
        first = await cockpit.start()
        second = await cockpit.until(lambda row: row.handoffs == 1 and row.state == "done")
        assert first.transcript is not None
        Path(first.transcript).unlink()
        refused = await cockpit.refused(Undo(name="api"))
        assert isinstance(refused, NotNow)
        assert "cockpit history api" in refused.hint
        assert (await cockpit.row()).pid == second.pid


@pytest.mark.long
async def test_an_undo_gives_up_a_new_session_that_has_not_answered(cockpit: Cockpit) -> None:
    slow = "successor:trust"
    async with cockpit.flying(cockpit.agent(steps=9, faults=slow)):
        await cockpit.start()
        swapping = await cockpit.until(
            lambda row: row.handoff and row.handoff.phase == "confirming"
        )
        await cockpit.ask(Undo(name="api"))
        back = await cockpit.until(lambda row: row.handoff is None and row.pid is not None)
        assert back.session_id == swapping.previous_session_id
        assert back.pid != swapping.pid


@pytest.mark.long
async def test_a_session_gone_back_to_rests_and_then_is_only_asked_about(cockpit: Cockpit) -> None:
    rest = '[agents.handoff]\ncooldown = "2s"'
    async with cockpit.flying(cockpit.agent(steps=60, pace=0.2, more=rest)):
        await cockpit.start()
        await cockpit.until(lambda row: row.handoffs == 1 and row.handoff is None)
        await cockpit.ask(Undo(name="api"))
        pane = (await cockpit.row()).pane
        assert pane is not None
        await cockpit.until(idle_at(1))
        assert len(await cockpit.events("handoff.begun")) == 1
        cockpit.tmux("send-keys", "-t", pane, "Go on.", "Enter")
        resting = await cockpit.until(lambda row: "no handoff begins" in (row.note or ""))
        assert "this session was just reopened" in str(resting.note)
        assert "begun;" not in str(resting.note)
        asked = await cockpit.until(lambda row: row.needs and row.needs.kind == "handoff")
        assert (asked.session_number, asked.mode) == (1, "auto")
        (held,) = await cockpit.events("handoff.held_back")
        assert "was reopened by an undo" in held.text
        await cockpit.ask(Refuse(name="api"))


@pytest.mark.long
@pytest.mark.parametrize("moment", ["while the old one is ended", "before the new one starts"])
async def test_an_undo_that_was_cut_short_is_finished(cockpit: Cockpit, moment: str) -> None:
    deaf = "successor:deaf" if moment.startswith("while") else ""
    async with cockpit.flying(cockpit.agent(steps=9, faults=deaf)):
        first = await cockpit.start()
        second = await cockpit.until(lambda row: row.handoffs == 1 and row.state == "done")
    await cockpit.launch()
    if not deaf:
        hold_the_launcher(cockpit)
    undoing = asyncio.create_task(cockpit.client.ask(Undo(name="api")))
    await until(lambda: cut_short(cockpit, second, deaf=bool(deaf)))
    cockpit.kill()
    with contextlib.suppress(CockpitError):
        await undoing
    if not deaf:
        release_the_launcher(cockpit)
    await cockpit.launch()
    back = await cockpit.until(idle_at(1))
    assert back.session_id == first.session_id
    await cockpit.lives(back)
    (chain,) = await cockpit.client.history("api")
    assert [each.state for each in chain.sessions] == ["live", "undone"]
    assert len(await cockpit.events("handoff.undone")) == 1


def cut_short(cockpit: Cockpit, second: AgentStatus, *, deaf: bool) -> bool:
    """Whether the undo has come as far as the test wants to kill it at."""
    intent = b"undoing" in cockpit.places.database.with_suffix(".db-wal").read_bytes()
    return intent and (deaf or not Path(f"/proc/{second.pid}").exists())


def hold_the_launcher(cockpit: Cockpit) -> None:
    """Have whatever is started next wait: its program is a pipe that nobody writes to."""
    program = cockpit.home / "bin" / "claude"
    program.rename(program.with_name("claude.kept"))
    os.mkfifo(program.with_name("gate"))
    kept = program.with_name("claude.kept")
    gate = program.with_name("gate")
    run = f'[ -e {kept} ] && exec {kept} "$@"; exec {program} "$@"'
    program.write_text(f'#!/bin/sh\n[ "$1" = --version ] || read go < {gate}\n{run}\n')
    program.chmod(0o755)


def release_the_launcher(cockpit: Cockpit) -> None:
    program = cockpit.home / "bin" / "claude"
    program.with_name("claude.kept").rename(program)
    with contextlib.suppress(OSError):  # nobody waits at the gate
        gate = os.open(program.with_name("gate"), os.O_WRONLY | os.O_NONBLOCK)
        os.write(gate, b"go\n")
        os.close(gate)


async def until(true: Callable[[], bool], within: float = 20.0) -> None:
    end = asyncio.get_running_loop().time() + within
    while not true():
        assert asyncio.get_running_loop().time() < end, "it never came true"
        await asyncio.sleep(0.005)
