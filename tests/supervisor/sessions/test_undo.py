"""An undo that was cut short, that meets somebody who cannot be ended, or nothing to go back to."""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.adapters.agents.claude.runtime import Claude
from cockpit.adapters.process.processes import LocalProcesses
from cockpit.adapters.store.store import Store
from cockpit.core.capabilities import EndSignal
from cockpit.core.errors import Failed, NotNow
from cockpit.core.ids import SessionId
from cockpit.ports.panes import Launch
from cockpit.ports.processes import Ending, ProcessId
from cockpit.ports.records import SessionRecord
from cockpit.ports.runtimes import Program, SessionOrder
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.main import dependencies
from cockpit.supervisor.sessions.undo import UNDOING
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Handoff, Undo
from tests.supervisor.conftest import PATIENCE

if TYPE_CHECKING:
    from cockpit.config.paths import Places
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


class Undying(LocalProcesses):
    """Where every process hangs in the kernel."""

    async def end(
        self,
        process: ProcessId | None,
        marker: str,
        *,
        patience: float = 6.0,
        first: EndSignal = "TERM",
    ) -> Ending:
        pids = (process.pid,) if process is not None else ()
        return Ending(gone=False, killed=True, survivors=pids)


class Breaking(LocalProcesses):
    """Where processes end, and the directory goes away in which the next one would work."""

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self._directory = directory

    async def end(
        self,
        process: ProcessId | None,
        marker: str,
        *,
        patience: float = 6.0,
        first: EndSignal = "TERM",
    ) -> Ending:
        if self._directory.exists():
            self._directory.rename(away(self._directory))
        return await super().end(process, marker, patience=patience, first=first)


class Full(LocalProcesses):
    """Where nothing can be done, because the machine would not."""

    async def end(
        self,
        process: ProcessId | None,
        marker: str,
        *,
        patience: float = 6.0,
        first: EndSignal = "TERM",
    ) -> Ending:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class ClearedMeanwhile(Claude):
    """Where somebody clears the session while its predecessor is prepared to be reopened."""

    def __init__(self, state: Path, clear: Callable[[], None]) -> None:
        super().__init__(state)
        self._clear = clear

    def launch(self, order: SessionOrder, program: Program) -> Launch:
        if order.resume:
            self._clear()
        return super().launch(order, program)


def full(places: Places) -> Dependencies:
    return replace(dependencies(places), processes=Full())


def undying(places: Places) -> Dependencies:
    return replace(dependencies(places), processes=Undying())


def breaking(directory: Path) -> Callable[[Places], Dependencies]:
    return lambda places: replace(dependencies(places), processes=Breaking(directory))


def away(directory: Path) -> Path:
    return directory.with_name("away")


async def handed_off(cockpit: Cockpit) -> AgentStatus:
    """The row of a second session, whose supervisor has gone."""
    async with cockpit.flying(cockpit.agent(steps=9)):
        await cockpit.start()
        return await cockpit.until(lambda row: row.handoffs == 1 and row.state == "done")


def begin_undo(cockpit: Cockpit, row: AgentStatus, **changes: object) -> None:
    """Write down that an undo began, as the supervisor does before it ends anybody."""
    with closing(Store(cockpit.places.database).open()) as store:
        session = store.session(SessionId(row.session_id or ""))
        assert session is not None
        changed: SessionRecord = replace(session, state=UNDOING, **changes)  # type: ignore[arg-type]
        store.save_session(changed)


async def test_a_first_session_has_nothing_before_it(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="observe", steps=3)):
        refused = await cockpit.refused(Undo(name="api"))
        assert "no previous session" in refused.title
        row = await cockpit.start()
        assert isinstance(await cockpit.refused(Undo(name="api")), NotNow)
        assert (await cockpit.row()).pid == row.pid


async def test_a_session_whose_record_is_gone_cannot_be_gone_back_to(cockpit: Cockpit) -> None:
    second = await handed_off(cockpit)
    assert second.transcript is not None
    Path(second.transcript).with_name(f"{second.previous_session_id}.jsonl").unlink()
    async with cockpit.flying():
        refused = await cockpit.refused(Undo(name="api"))
        assert "Cannot reopen" in refused.title
        assert (await cockpit.row()).pid == second.pid


async def test_going_back_to_a_session_in_the_middle_of_a_chain(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(steps=4, pause=2, step_tokens=100)):
        await cockpit.start()
        for number in (1, 2):
            await cockpit.until(at_rest(number))
            await cockpit.ask(Handoff(name="api"))
        third = await cockpit.until(at_rest(3))
        await cockpit.ask(Undo(name="api"))
        back = await cockpit.until(at_rest(2))
        assert back.session_id == third.previous_session_id


async def test_a_session_of_another_machine_is_not_reopened(cockpit: Cockpit) -> None:
    second = await handed_off(cockpit)
    with closing(Store(cockpit.places.database).open()) as store:
        session = store.session(str(second.session_id))
        assert session is not None
        (ended,) = store.handoffs_of(session.job, str(session.previous))
        store.save_handoff(replace(ended, details=replace(ended.details, moved_from="laptop")))
    async with cockpit.flying():
        await cockpit.until(at_rest(2))
        refused = await cockpit.refused(Undo(name="api"))
        assert "is on laptop" in refused.title
        assert "cockpit move api --to laptop" in refused.hint
        assert (await cockpit.row()).session_id == second.session_id


async def test_an_undo_is_not_finished_over_a_session_that_another_agent_has_open(
    cockpit: Cockpit,
) -> None:
    tables = [
        cockpit.agent(name, mode="observe", steps=9, pause=3, step_tokens=100)
        for name in ("api", "web")
    ]
    async with cockpit.flying(*tables):
        first, web = await cockpit.start(), await cockpit.start("web")
        for name in ("api", "web"):
            await cockpit.until(lambda row: row.state == "idle", name)
        type_in(cockpit, first, "/clear")
        second = await cockpit.until(lambda row: row.session_number == 2)
        type_in(cockpit, web, f"/resume {first.session_id}")
        await cockpit.until(lambda row: row.session_number == 2, "web")
    begin_undo(cockpit, second)
    async with cockpit.flying():
        row = await cockpit.until(lambda row: row.needs)
        assert row.needs is not None
        assert row.needs.detail.endswith(f"Session {first.session_id} is already open")
        assert (row.pid, row.session_id) == (second.pid, second.session_id)
        (chain,) = await cockpit.client.history("api")
        assert [each.state for each in chain.sessions][-1] == "live"


def type_in(cockpit: Cockpit, row: AgentStatus, text: str) -> None:
    assert row.pane is not None
    cockpit.tmux("send-keys", "-t", row.pane, "-l", text)
    cockpit.tmux("send-keys", "-t", row.pane, "Enter")


def at_rest(number: int) -> Callable[[AgentStatus], bool]:
    """Whether the session of that place waits for its user."""
    return lambda row: (
        row.session_number == number and row.handoff is None and row.state in {"idle", "done"}
    )


async def test_an_undo_that_ended_nobody_yet_is_finished(cockpit: Cockpit) -> None:
    second = await handed_off(cockpit)
    begin_undo(cockpit, second)
    async with cockpit.flying():
        back = await cockpit.until(lambda row: row.session_number == 1)
        assert back.session_id == second.previous_session_id
        await cockpit.event("handoff.undone")
        await cockpit.until(lambda _row: cockpit.living(back) == [back.pid])


async def test_an_undo_that_lacked_only_its_note_starts_nobody(cockpit: Cockpit) -> None:
    second = await handed_off(cockpit)
    async with cockpit.flying():
        await cockpit.ask(Undo(name="api"))
        back = await cockpit.until(lambda row: row.session_number == 1 and row.pid is not None)
    begin_undo(cockpit, second)
    async with cockpit.flying():
        await cockpit.event("handoff.undone", number=2)
        again = await cockpit.row()
        assert (again.pid, again.session_id) == (back.pid, back.session_id)
    # What is written down is not done once more.
    async with cockpit.flying():
        assert len(await cockpit.events("handoff.undone")) == 2


async def test_an_undo_without_a_session_before_is_let_be(cockpit: Cockpit) -> None:
    second = await handed_off(cockpit)
    begin_undo(cockpit, second, previous=None)
    async with cockpit.flying():
        row = await cockpit.row()
        assert (row.pid, row.session_id) == (second.pid, second.session_id)


async def test_over_somebody_who_cannot_be_ended_nobody_is_started(cockpit: Cockpit) -> None:
    second = await handed_off(cockpit)
    cockpit.world = undying
    async with cockpit.flying():
        refused = await cockpit.refused(Undo(name="api"))
        assert isinstance(refused, Failed)
        assert f"Processes {second.pid} do not end" in refused.detail
        row = await cockpit.row()
        assert (row.pid, row.session_id) == (second.pid, second.session_id)
        (chain,) = await cockpit.client.history("api")
        assert [each.state for each in chain.sessions] == ["handed_off", "live"]
    # The same where it was begun by another supervisor: told on the row.
    begin_undo(cockpit, second)
    async with cockpit.flying():
        row = await cockpit.until(lambda row: row.needs)
        assert "could not finish the undo" in (row.needs.detail if row.needs else "")


async def test_a_session_that_is_cleared_meanwhile_is_not_ended(cockpit: Cockpit) -> None:
    second = await handed_off(cockpit)

    def clear() -> None:
        type_in(cockpit, second, "/clear")
        end = time.monotonic() + PATIENCE
        with closing(Store(cockpit.places.database).open()) as store:
            while len([one for one in store.live_sessions() if one.agent == "api"]) != 1 or (
                store.live_sessions()[0].id == second.session_id
            ):
                assert time.monotonic() < end, "the session was not cleared"
                time.sleep(0.02)

    def world(places: Places) -> Dependencies:
        return replace(
            dependencies(places), runtimes=lambda _: ClearedMeanwhile(places.state, clear)
        )

    cockpit.world = world
    async with cockpit.flying():
        refused = await cockpit.refused(Undo(name="api"))
        assert isinstance(refused, NotNow)
        assert "session changed meanwhile" in refused.title
        row = await cockpit.row()
        assert row.pid == second.pid
        assert row.previous_session_id == second.session_id


async def test_a_session_that_cannot_be_reopened_any_more_is_told_and_can_be_tried_again(
    cockpit: Cockpit,
) -> None:
    second = await handed_off(cockpit)
    cockpit.world = breaking(cockpit.repository)
    async with cockpit.flying():
        await cockpit.refused(Undo(name="api"))
        row = await cockpit.until(lambda row: row.needs)
        assert row.needs is not None
        assert "could not be reopened" in row.needs.detail
        assert (row.pid, row.session_id) == (None, second.session_id)
    away(cockpit.repository).rename(cockpit.repository)
    cockpit.world = dependencies
    async with cockpit.flying():
        await cockpit.ask(Undo(name="api"))
        back = await cockpit.until(lambda row: row.pid is not None)
        assert back.session_id == second.previous_session_id


async def test_an_undo_that_cannot_be_finished_keeps_no_supervisor_down(cockpit: Cockpit) -> None:
    second = await handed_off(cockpit)
    begin_undo(cockpit, second)
    cockpit.world = full
    async with cockpit.flying():
        row = await cockpit.until(lambda row: row.needs)
        assert "No space left" in (row.needs.detail if row.needs else "")
        assert row.pid == second.pid
    # Once there is space again it is finished.
    cockpit.world = dependencies
    async with cockpit.flying():
        back = await cockpit.until(lambda row: row.session_number == 1)
        assert back.session_id == second.previous_session_id
        await cockpit.event("handoff.undone")


async def test_an_undo_whose_reopened_session_is_gone_as_well_is_told(cockpit: Cockpit) -> None:
    second = await handed_off(cockpit)
    async with cockpit.flying():
        await cockpit.ask(Undo(name="api"))
        back = await cockpit.until(lambda row: row.session_number == 1 and row.pid is not None)
    begin_undo(cockpit, second)
    os.kill(back.pid or 0, signal.SIGKILL)
    cockpit.world = breaking(cockpit.repository)
    async with cockpit.flying():
        row = await cockpit.until(lambda row: row.needs)
        assert "could not finish the undo" in (row.needs.detail if row.needs else "")
        assert (row.pid, row.session_id) == (None, back.session_id)
