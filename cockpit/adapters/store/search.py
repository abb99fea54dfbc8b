"""Full-text search over handoff documents.

The index is in the same database as the handoffs, and can be rebuilt from the files. SQLite's FTS5
splits text into trigrams, so any part of a word is found, in any script. Words of fewer than three
characters are not looked up in the index; they filter the results of the longer words, or all
documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cockpit.adapters.store.store import Store

SHORTEST = 3
"""Minimum characters of an indexed word."""
MOST = 200
"""Maximum number of results of one search, the newest first."""


class Stale(NamedTuple):
    """A handoff whose document was never indexed, or has changed since it was indexed."""

    handoff: str
    agent: str
    document: str
    copy: str | None
    sha256: str


class Hit(NamedTuple):
    """A document that contains all words of a search."""

    handoff: str
    text: str


class SearchTable:
    """The full-text index of handoff documents, in the database of one store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._run = store.run

    def stale(self) -> list[Stale]:
        """Return the documents to index, oldest first; empty if the index is current."""
        rows = self._run(
            "select handoffs.id, agent, document, copy, handoffs.sha256 from handoffs "
            "left join indexed on indexed.handoff = handoffs.id "
            "where document is not null and handoffs.sha256 is not null "
            "and indexed.sha256 is not handoffs.sha256 order by created"
        )
        return [Stale(*row) for row in rows.fetchall()]

    def put(self, handoff: str, sha256: str, text: str) -> None:
        """Index a document's text, replacing an older text. Idempotent."""
        with self._store.transaction():
            self._run(
                "insert into indexed(handoff, sha256) values (?, ?) "
                "on conflict (handoff) do update set sha256 = excluded.sha256",
                handoff,
                sha256,
            )
            number = self._number(handoff)
            self._run("delete from document_words where rowid = ?", number)
            self._run("insert into document_words(rowid, text) values (?, ?)", number, text)

    def clear(self, handoff: str) -> None:
        """Remove a document's text from the index; the text is indexed again only if it changes.
        Idempotent."""
        number = self._number(handoff)
        if number is not None:
            self._run("delete from document_words where rowid = ?", number)

    def find(self, wanted: Sequence[str], agent: str | None = None) -> list[Hit]:
        """Return at most `MOST` documents that contain all of these words, newest first; with
        `agent`, only documents of that agent."""
        long = [word for word in wanted if len(word) >= SHORTEST]
        short = [word for word in wanted if len(word) < SHORTEST]
        conditions = ["(? is null or handoffs.agent = ?)"]
        values: list[str | None] = [agent, agent]
        if long:
            conditions.append("document_words match ?")
            values.append(" ".join(_quoted(word) for word in long))
        for word in short:
            conditions.append("document_words.text like ? escape '\\'")
            values.append(f"%{_plain(word)}%")
        # The conditions are constants; every value is bound.
        rows = self._run(
            "select handoffs.id, document_words.text from document_words "
            "join indexed on indexed.number = document_words.rowid "
            "join handoffs on handoffs.id = indexed.handoff "
            f"where {' and '.join(conditions)} order by handoffs.created desc limit {MOST}",
            *values,
        )
        return [Hit(*row) for row in rows.fetchall()]

    def _number(self, handoff: str) -> int | None:
        row = self._run("select number from indexed where handoff = ?", handoff).fetchone()
        return None if row is None else int(row[0])


def _quoted(word: str) -> str:
    escaped = word.replace('"', '""')
    return f'"{escaped}"'


def _plain(word: str) -> str:
    """Escape the characters of a word that are special in LIKE."""
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
