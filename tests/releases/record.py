"""Records flights of this version, for later versions to open: `pytest tests/releases/record.py`.

Run it once for each release, and commit what it leaves in `tests/releases/VERSION/`. A recorded
flight is never changed or removed.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cockpit import __version__
from cockpit.adapters.process.processes import LocalProcesses
from cockpit.adapters.store.store import Store
from cockpit.core.capabilities import EndSignal
from cockpit.ports.processes import Ending, ProcessId
from cockpit.supervisor.main import dependencies
from cockpit.wire.verbs import Approve, Handoff, Moved, Refuse, Undo
from tests.releases.flight import keep, store

if TYPE_CHECKING:
    from cockpit.config.paths import Places
    from cockpit.ports.records import HandoffRecord
    from cockpit.supervisor.dependencies import Dependencies
    from cockpit.wire.status import AgentStatus
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux
HERE = Path(__file__).parent / __version__


class KeepingStore(Store):
    """Keeps a copy of the disk the first time that a handoff stands in each state."""

    def __init__(self, path: Path, home: Path, copies: Path) -> None:
        super().__init__(path)
        self._home, self._copies = home, copies

    def save_handoff(self, handoff: HandoffRecord) -> None:
        super().save_handoff(handoff)
        state = str(handoff.record["state"]["is"])
        if not self._database.in_transaction and not (self._copies / state).exists():
            keep(self._home, self._copies / state)


class Undying(LocalProcesses):
    """Where no process can be ended."""

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


@contextmanager
def kept(cockpit: Cockpit, **changes: Any) -> Iterator[Path]:
    """Have the cockpit fly in a world whose disk is kept at each state of a handoff."""
    copies = Path(tempfile.mkdtemp())

    def world(places: Places) -> Dependencies:
        parts = dependencies(places)
        parts.store.close()
        parts.store.__class__ = KeepingStore
        parts.store.__init__(places.database, cockpit.home, copies)  # type: ignore[misc]
        parts.store.open()
        return replace(parts, **changes)

    cockpit.world = world
    try:
        yield copies
    finally:
        shutil.rmtree(copies)


async def write(cockpit: Cockpit, copy: Path, name: str) -> None:
    folder = HERE / name
    assert not folder.exists(), f"{folder} was recorded already"
    store(copy, cockpit.home, folder)


def swapped(row: AgentStatus) -> bool:
    return row.handoffs == 1 and row.state == "done"


async def test_record_an_automatic_handoff_in_each_state(cockpit: Cockpit) -> None:
    with kept(cockpit) as copies:
        async with cockpit.flying(cockpit.agent(steps=9)):
            await cockpit.start()
            await cockpit.until(swapped)
            keep(cockpit.home, copies / "done")
        for copy in sorted(copies.iterdir()):
            await write(cockpit, copy, copy.name.lower())


async def test_record_what_waits_for_the_user_and_an_undo(cockpit: Cockpit) -> None:
    with kept(cockpit) as copies:
        async with cockpit.flying(cockpit.agent(mode="prompt", steps=9)):
            await cockpit.start()
            await cockpit.until(lambda row: row.needs and row.needs.kind == "handoff")
            await cockpit.ask(Approve(name="api"))
            await cockpit.until(lambda row: row.needs and row.needs.kind == "review")
            await cockpit.ask(Approve(name="api"))
            await cockpit.until(swapped)
            await cockpit.ask(Undo(name="api"))
            await cockpit.until(lambda row: row.session_number == 1 and row.pid)
            keep(cockpit.home, copies / "undone")
        for name in ("Asked", "Reviewing", "undone"):
            await write(cockpit, copies / name, name.lower())


async def test_record_a_handoff_that_failed(cockpit: Cockpit) -> None:
    with kept(cockpit, processes=Undying()) as copies:
        async with cockpit.flying(cockpit.agent(steps=9)):
            await cockpit.start()
            await cockpit.event("handoff.failed")
            keep(cockpit.home, copies / "failed")
        await write(cockpit, copies / "failed", "failed")


async def test_record_a_session_that_was_reopened(cockpit: Cockpit) -> None:
    with kept(cockpit) as copies:
        async with cockpit.flying(cockpit.agent(steps=9, faults="successor:exit")):
            await cockpit.start()
            await cockpit.event("handoff.revived")
            keep(cockpit.home, copies / "revived")
        for name in ("Reviving", "revived"):
            await write(cockpit, copies / name, name.lower())


async def test_record_a_refused_handoff(cockpit: Cockpit) -> None:
    with kept(cockpit) as copies:
        async with cockpit.flying(cockpit.agent(mode="prompt", steps=9, step_tokens=100)):
            await cockpit.start()
            await cockpit.ask(Handoff(name="api"))
            await cockpit.until(lambda row: row.needs and row.needs.kind == "review")
            await cockpit.ask(Refuse(name="api"))
            await cockpit.event("handoff.refused")
            keep(cockpit.home, copies / "refused")
        await write(cockpit, copies / "refused", "refused")


async def test_record_a_job_that_moves_to_another_machine(cockpit: Cockpit) -> None:
    with kept(cockpit) as copies:
        async with cockpit.flying(cockpit.agent(mode="auto", steps=2, step_tokens=100)):
            await cockpit.start()
            done = await cockpit.ask(Handoff(name="api", host="gpu1"))
            await cockpit.until(lambda row: row.handoff and row.handoff.phase == "moving")
            await cockpit.ask(Moved(name="api", handoff=str(done.document)))
            await cockpit.event("handoff.moved")
            keep(cockpit.home, copies / "moved")
        for name in ("Moving", "moved"):
            await write(cockpit, copies / name, name.lower())
