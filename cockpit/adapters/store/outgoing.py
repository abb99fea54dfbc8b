"""Messages that have not left yet, in the supervisor's database.

A row is laid in with the event that it tells of, in one transaction, so neither is without the
other. Sends nothing, and knows nothing of when to try again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict

from cockpit.adapters.store.store import Store
from cockpit.ports.records import OutgoingRecord

MOST = 1000
"""Messages that are kept; a further one takes the place of the oldest."""


class OutgoingTable:
    """The table of one store."""

    def __init__(self, store: Store) -> None:
        self._run = store._run

    def add(self, message: OutgoingRecord) -> int:
        """Lay a message in; answers how many old ones had to give way. Twice is as once."""
        row = asdict(message)
        row |= {"hook": json.dumps(row["hook"]), "payload": json.dumps(row["payload"])}
        columns, marks = ", ".join(row), ", ".join("?" for _ in row)
        self._run(
            f"insert or ignore into outgoing({columns}) values ({marks})",
            *row.values(),
        )
        dropped = self._run(
            "delete from outgoing where rowid in (select rowid from outgoing "
            "order by created desc, rowid desc limit -1 offset ?)",
            MOST,
        )
        return dropped.rowcount

    def due(self, now: float) -> list[OutgoingRecord]:
        """Those whose time has come, oldest first."""
        rows = self._run(
            "select * from outgoing where next_at <= ? order by created, rowid limit 200", now
        )
        return _messages(rows.fetchall())

    def next_after(self, now: float) -> float | None:
        """When the next one is due that is not due yet, in unix seconds; None for none."""
        row = self._run("select min(next_at) from outgoing where next_at > ?", now).fetchone()
        return None if row[0] is None else float(row[0])

    def all_of(self, kind: str) -> list[OutgoingRecord]:
        """Every one of a kind, due or not, oldest first."""
        rows = self._run("select * from outgoing where kind = ? order by created, rowid", kind)
        return _messages(rows.fetchall())

    def put_off(self, message: OutgoingRecord, attempts: int, until: float) -> None:
        self._run(
            "update outgoing set attempts = ?, next_at = ? where id = ?",
            attempts,
            until,
            message.id,
        )

    def remove(self, message: OutgoingRecord) -> None:
        self._run("delete from outgoing where id = ?", message.id)


def _messages(rows: Iterable[sqlite3.Row]) -> list[OutgoingRecord]:
    """Those that read; a damaged one is passed over."""
    found = []
    for row in rows:
        with suppress(ValueError):
            found.append(_message(row))
    return found


def _message(row: sqlite3.Row) -> OutgoingRecord:
    held = dict(row)
    held |= {"hook": json.loads(held["hook"]), "payload": json.loads(held["payload"])}
    return OutgoingRecord(**held)
