"""A byte that flipped in a stored text: that row is put aside and told of, the rest is kept."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Handoff
from tests.long_cases import cases

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux

TEXTS = cases(
    ("seats", "settings"),
    ("sessions", "state"),
    ("handoffs", "record"),
    ("events", "data"),
    long=(
        ("seats", "note"),
        ("seats", "directory"),
        ("jobs", "prompt"),
        ("jobs", "agent"),
        ("sessions", "transcript"),
        ("handoffs", "details"),
        ("handoffs", "id"),
        ("events", "text"),
    ),
)


def flip(cockpit: Cockpit, table: str, column: str) -> None:
    """Make the first byte of this text one that no UTF-8 begins with, in each row of `api`."""
    with sqlite3.connect(cockpit.places.database) as database:
        whose = "name" if table == "seats" else "agent"
        rows = database.execute(
            f"select rowid, cast({column} as blob) from {table} where {whose} = 'api'"
        ).fetchall()
        assert rows
        for number, text in rows:
            database.execute(
                f"update {table} set {column} = cast(? as text) where rowid = ?",
                (b"\xff" + (text or b"x")[1:], number),
            )
    database.close()


@pytest.mark.parametrize(("table", "column"), TEXTS)
async def test_one_flipped_byte_keeps_nothing_from_coming_up(
    cockpit: Cockpit, table: str, column: str
) -> None:
    def alive(row: AgentStatus) -> bool:
        return row.pid is not None

    agents = [cockpit.agent(name, "prompt", steps=3, pause=2) for name in ("api", "web")]
    async with cockpit.flying(*agents):
        for name in ("api", "web"):
            await cockpit.start(name)
        await cockpit.until(lambda row: row.activity)
        if await cockpit.client.status() and (await cockpit.row()).handoff is None:
            await cockpit.ask(Handoff(name="api"))
        before = [await cockpit.row(name) for name in ("api", "web")]
    flip(cockpit, table, column)
    for first in (True, False):
        async with cockpit.flying():
            api = await cockpit.until(alive)
            web = await cockpit.until(alive, "web")
            assert [api.pid, web.pid] == [row.pid for row in before]
            assert (web.job, web.session_id) == (before[1].job, before[1].session_id)
            if table != "events" and first:
                told = await cockpit.event("store.row_put_aside")
                assert column in told.text
                assert api.needs is not None
