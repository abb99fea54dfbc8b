"""What a CLI does to its session is on the disk before it is in memory, and is followed again."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from cockpit.adapters.store.store import Store
from cockpit.core.ids import SessionId
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.sessions.session_changes import SessionChanges
from tests.supervisor.left_alone import flown, parts_of

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux

NEW = SessionId(str(uuid4()))
DENIED = r"prohibited|not authorized"
Change = Callable[[SessionChanges, Agent, Path], None]


@contextmanager
def unwritable(store: Store, table: str) -> Iterator[None]:
    """Only this table cannot be changed, so that what is written before it is taken back."""

    def authorize(action: int, what: str | None, *more: str | None) -> int:
        writes = action in (sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE)
        return sqlite3.SQLITE_DENY if writes and what == table else sqlite3.SQLITE_OK

    store._database.set_authorizer(authorize)
    try:
        yield
    finally:
        store._database.set_authorizer(None)


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("sessions", lambda changes, agent, file: changes.follow_transcript(agent, file)),
        ("sessions", lambda changes, agent, file: changes.found_session(agent, NEW, file)),
        (
            "seats",
            lambda changes, agent, file: changes.follow_new_session(agent, NEW, file, "clear"),
        ),
    ],
    ids=["transcript", "id", "session"],
)
async def test_a_change_that_cannot_be_saved_changes_nothing_and_is_followed_later(
    cockpit: Cockpit, tmp_path: Path, table: str, change: Change
) -> None:
    await flown(cockpit)
    async with parts_of(cockpit) as parts:
        agent, store = parts.agent, parts.dependencies.store
        changes = SessionChanges(parts.dependencies, parts.sessions)
        file = tmp_path / "other.jsonl"
        held = agent.record, agent.session, agent.chain, agent.session_state
        assert agent.session is not None
        saved = store.agents(), store.chain(agent.session.job)

        with unwritable(store, table), pytest.raises(sqlite3.DatabaseError, match=DENIED):
            change(changes, agent, file)

        assert (agent.record, agent.session, agent.chain, agent.session_state) == held
        assert agent.session is not None
        assert (store.agents(), store.chain(agent.session.job)) == saved
        change(changes, agent, file)
        assert agent.session.transcript == str(file)
        assert store.agents() == [agent.record]
        assert store.chain(agent.session.job) == agent.chain
        assert agent.chain[-1] == agent.session
