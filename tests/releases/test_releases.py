"""What earlier versions left on disk, opened by this one: nothing is lost, open handoffs go on.

Each flight is laid down as after a reboot: every file is there, and no process.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cockpit.core.handoff.record import TAGS
from cockpit.wire.verbs import Approve, Refuse, Start
from tests.releases.flight import lay_down

if TYPE_CHECKING:
    from cockpit.wire.status import AgentStatus
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux

HERE = Path(__file__).parent
FLIGHTS = sorted(path.parent for path in HERE.glob("*/*/database.sql"))
OUTCOMES = {
    "asked": "cancelled", "refused": "refused", "failed": "failed",
    "revived": "revived", "reviving": "revived", "moving": "refused", "moved": "moved",
}  # fmt: skip
"""How the newest handoff of a flight ends, where that is not by being done."""
NAMES = [f"{path.parent.name}-{path.name}" for path in FLIGHTS]


def kept(cockpit: Cockpit, table: str) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(cockpit.places.database)) as opened:
        opened.row_factory = sqlite3.Row
        return [dict(row) for row in opened.execute(f"select * from {table} order by rowid")]


def test_every_state_of_a_handoff_is_among_the_flights() -> None:
    latest = {path.name for path in FLIGHTS if path.parent.name == FLIGHTS[-1].parent.name}
    assert {tag.lower() for tag in TAGS} <= latest
    assert {"done", "undone", "failed", "revived", "refused"} <= latest


@pytest.mark.parametrize("flight", FLIGHTS, ids=NAMES)
async def test_a_flight_of_an_earlier_version_is_whole(cockpit: Cockpit, flight: Path) -> None:
    lay_down(flight, cockpit.home)
    sessions, handoffs = kept(cockpit, "sessions"), kept(cockpit, "handoffs")
    papers = {
        path: path.read_bytes() for path in cockpit.repository.rglob(".cockpit/handoffs/*.md")
    }
    async with cockpit.flying():
        row = await cockpit.row()
        assert (row.name, row.goal) == ("api", "Count the steps.")
        assert row.job == sessions[-1]["job"]
        (chain,) = await cockpit.client.history("api")
        told = {each.id for each in chain.sessions}
        assert told >= {each["id"] for each in sessions if each["state"] != "failed"}
        assert kept(cockpit, "damaged") == []
        after = {each["id"]: each for each in kept(cockpit, "handoffs")}
        for each in handoffs:
            if each["ended"] is not None:
                assert after[each["id"]]["outcome"] == each["outcome"]
        newest = await settled(cockpit)
        assert newest["outcome"] == OUTCOMES.get(flight.name, "done"), newest["why"]
    for path, text in papers.items():
        if not path.name.startswith("draft-"):
            assert path.read_bytes() == text


async def settled(cockpit: Cockpit) -> dict[str, Any]:
    """The newest handoff: it goes to its end, or there is none and the session can be reopened."""

    def is_over(row: AgentStatus) -> bool:
        waits = row.needs is not None and row.needs.kind == "review"
        return row.handoff is None or waits or row.handoff.phase == "moving"

    last = kept(cockpit, "handoffs")[-1]["id"]
    row = await cockpit.until(is_over)
    if row.handoff is not None and row.handoff.phase == "moving":
        await cockpit.ask(Refuse(name="api"))
        row = await cockpit.until(lambda row: row.handoff is None)
    if row.handoff is not None:
        await cockpit.ask(Approve(name="api"))
        row = await cockpit.until(lambda row: row.handoff is None)
    # A handoff whose last state is written is taken off the row before its outcome is.
    await cockpit.until(lambda _: kept(cockpit, "handoffs")[-1]["ended"] is not None)
    newest = kept(cockpit, "handoffs")[-1]
    assert newest["id"] == last
    if row.pid is None:
        # A job that was moved is reopened only by force.
        asked = Start(name="api", resume="last", config=str(cockpit.config), named=True, force=True)
        await cockpit.ask(asked)
    row = await cockpit.until(lambda row: row.pid is not None)
    assert row.job == newest["job"]
    return newest
