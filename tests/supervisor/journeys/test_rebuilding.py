"""The database is lost: chains are there again, of what their documents and records tell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cockpit.wire.history import HistorySession
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Handoff, Undo

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = [pytest.mark.long, pytest.mark.tmux]

KEPT = ("id", "number", "document", "handoff", "writer", "outcome", "began_with", "transcript")
"""What of a session must be as it was."""


def rests(row: AgentStatus) -> bool:
    return row.handoff is None and row.state in {"idle", "done"}


def lose(database: Path) -> None:
    """As a file system does that was cut off in the middle of it all."""
    database.with_name("cockpit.db-wal").unlink(missing_ok=True)
    database.write_bytes(b"no database" * 1000)


async def handed_off(cockpit: Cockpit, number: int) -> AgentStatus:
    await cockpit.ask(Handoff(name="api"))
    return await cockpit.until(lambda row: row.session_number == number and rests(row))


def told(session: HistorySession) -> dict[str, Any]:
    return {name: getattr(session, name) for name in KEPT}


async def test_history_numbers_costs_and_the_way_back_are_there_again(cockpit: Cockpit) -> None:
    table = cockpit.agent(steps=30, pause=2, step_tokens=100)
    await cockpit.launch(table)
    await cockpit.start()
    await cockpit.until(rests)
    await handed_off(cockpit, 2)
    await cockpit.ask(Undo(name="api"))
    await cockpit.until(lambda row: row.session_number == 1 and rests(row))
    await handed_off(cockpit, 3)
    before = await handed_off(cockpit, 4)
    (chain,) = await cockpit.client.history("api")
    assert chain.rebuilt is False
    cockpit.kill()
    lose(cockpit.places.database)
    (cockpit.places.handoffs / "8003c7bf-4f5c-64f9-8003-c7bf4f5c64f9.md").write_text("\0 no")

    await cockpit.launch(table)
    row = await cockpit.until(lambda row: row.pid is not None)
    assert (row.pid, row.session_id) == (before.pid, before.session_id)
    assert (row.job, row.session_number) == (before.job, 4)
    assert row.previous_session_id == before.previous_session_id
    assert row.handoffs == before.handoffs == 3
    (again,) = await cockpit.client.history("api")
    assert [told(each) for each in again.sessions] == [told(each) for each in chain.sessions]
    states = [each.state for each in again.sessions]
    assert states == [each.state for each in chain.sessions]
    assert states == ["handed_off", "undone", "handed_off", "live"]
    costs = [each.cost_usd for each in chain.sessions]
    first, undone, third, live = [each.cost_usd for each in again.sessions]
    assert (undone, live) == (None, costs[3])
    # A document knows the cost up to its own writing; the session may say a word after it.
    assert 0 < (first or 0) <= (costs[0] or 0)
    assert 0 < (third or 0) <= (costs[2] or 0)
    assert again.goal == chain.goal
    assert again.rebuilt
    assert all(each.rebuilt for each in again.sessions)
    rebuilt = await cockpit.event("history.rebuilt")
    assert "1 job rebuilt from 3 documents; 1 file ignored" in rebuilt.text
    (aside,) = rebuilt.data["left_aside"]
    assert Path(aside).name.startswith("8003c7bf")
    for session in again.sessions:
        if session.handoff is not None:
            assert session.document is not None
            text = await cockpit.client.document(session.handoff)
            assert text == Path(session.document).read_text()

    # Nothing of it is done again by the next supervisor, and the way back is open.
    cockpit.kill()
    await cockpit.launch(table)
    assert len(await cockpit.events("history.rebuilt")) == 1
    await cockpit.ask(Undo(name="api"))
    back = await cockpit.until(lambda row: row.session_number == 3 and rests(row))
    assert back.session_id == before.previous_session_id
    assert back.transcript == chain.sessions[2].transcript
