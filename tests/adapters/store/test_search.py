"""The index of documents, in a real database: found by any part of any word, in no syntax."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cockpit.adapters.store.migrations import MIGRATIONS
from cockpit.adapters.store.search import SearchTable
from cockpit.adapters.store.store import Store
from cockpit.core.handoff.details import HandoffDetails
from cockpit.core.ids import AgentName, HandoffId, JobId, SessionId
from cockpit.core.search import words
from cockpit.ports.records import HandoffRecord, JobRecord

TEXTS = {
    "one": 'Renew access tokens in src/auth.py: refresh(self, "now") 100% sure -- 漢字の本 NEAR(x)',
    "two": "The session middleware; see src/session.py. Größe, TokenAuth, a_b",
    "three": "Nothing of both.",
}


def handoff(ident: str, created: float, agent: str = "api") -> HandoffRecord:
    return HandoffRecord(
        HandoffId(ident), AgentName(agent), JobId("j"), SessionId("s"), "manual", created, "b",
        {}, HandoffDetails(), document=f"/w/{ident}.md", copy=f"/c/{ident}.md",
        sha256=f"sha-{ident}",
    )  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "cockpit.db").open()
    opened.add_job(JobRecord(JobId("j"), AgentName("api"), "Count.", 1.0))
    for number, ident in enumerate(TEXTS):
        opened.save_handoff(handoff(ident, float(number), "web" if ident == "three" else "api"))
    yield opened
    opened.close()


@pytest.fixture
def table(store: Store) -> SearchTable:
    found = SearchTable(store)
    for stale in found.stale():
        found.put(stale.handoff, stale.sha256, TEXTS[stale.handoff])
    return found


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("session", ["two"]),
        ("src", ["two", "one"]),
        ("SRC auth", ["two", "one"]),
        ("src/auth.py", ["one"]),
        ("auth nothing", []),
        ("refresh(self,", ["one"]),
        ('"now")', ["one"]),
        ('"now', ["one"]),
        ("NEAR(x)", ["one"]),
        ("100%", ["one"]),
        ("漢字", ["one"]),
        ("字の本", ["one"]),
        ("größe", ["two"]),
        ("a_b", ["two"]),
        ("_", ["two"]),
        ("%", ["one"]),
        ("--", ["one"]),
        ("* ^ OR", []),
        ("\\ '", []),
        ("ot of", ["three"]),
        ("'; drop table words;--", []),
    ],
)
def test_every_document_that_holds_the_words_is_found_newest_first(
    table: SearchTable, typed: str, found: list[str]
) -> None:
    assert [hit.handoff for hit in table.find(words(typed))] == found


def test_of_one_agent(table: SearchTable) -> None:
    assert [hit.handoff for hit in table.find(("th",), "web")] == ["three"]
    assert table.find(("th",), "nobody") == []


def test_what_is_in_is_not_stale_until_it_is_sealed_anew(table: SearchTable, store: Store) -> None:
    assert table.stale() == []
    edited = HandoffRecord(**{**_fields(handoff("one", 0.0)), "sha256": "another"})
    store.save_handoff(edited)
    assert [stale.handoff for stale in table.stale()] == ["one"]
    for _ in range(2):
        table.put("one", "another", "edited by hand")
    assert table.stale() == []
    assert [hit.handoff for hit in table.find(("hand",))] == ["one"]
    assert table.find(("refresh",)) == []


def test_what_was_forgotten_is_neither_found_nor_read_again(table: SearchTable) -> None:
    for _ in range(2):
        table.clear("one")
        table.clear("never there")
    assert table.find(("auth.py",)) == []
    assert table.stale() == []


def test_a_handoff_without_a_document_is_nothing_to_read(store: Store, table: SearchTable) -> None:
    bare = HandoffRecord(**{**_fields(handoff("bare", 9.0)), "document": None, "sha256": None})
    store.save_handoff(bare)
    assert table.stale() == []


def test_a_database_of_before_gets_the_index_and_has_everything_to_read(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as old:
        before = next(n for n, each in enumerate(MIGRATIONS) if each.__name__.endswith("_search"))
        for migration in MIGRATIONS[:before]:
            migration(old)
        old.execute(f"pragma user_version = {before}")
        old.execute("insert into jobs values ('j', 'api', 'Count.', 1.0, null)")
        old.execute(
            "insert into handoffs(id, agent, job, old_session, reason, created, boot, record, "
            "details, document, sha256) values ('h', 'api', 'j', 's', 'manual', 1.0, 'b', '{}', "
            "'{}', '/w/h.md', 'x')"
        )
        old.commit()
    with closing(Store(path).open()) as store:
        assert [stale.handoff for stale in SearchTable(store).stale()] == ["h"]


def _fields(record: HandoffRecord) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__dataclass_fields__}
