"""Messages that were not sent yet, in the supervisor's database.

A message is stored in the same transaction as its event, so neither is stored without the other.
Sends nothing, and does not decide about retries.
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
"""Maximum number of stored messages; another message replaces the oldest."""


class OutgoingTable:
    """Stores the messages that were not sent yet, in the database of one store."""

    def __init__(self, store: Store) -> None:
        self._run = store.run

    def add(self, message: OutgoingRecord) -> int:
        """Store a message; return the number of old messages that were dropped. Idempotent."""
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
        """Return at most 200 messages that are due at `now` (Unix seconds), oldest first."""
        rows = self._run(
            "select * from outgoing where next_at <= ? order by created, rowid limit 200", now
        )
        return _messages(rows.fetchall())

    def next_after(self, now: float) -> float | None:
        """Return when the next message becomes due after `now`, in Unix seconds; None if no message
        does."""
        row = self._run("select min(next_at) from outgoing where next_at > ?", now).fetchone()
        return None if row[0] is None else float(row[0])

    def all_of(self, kind: str) -> list[OutgoingRecord]:
        """Return all messages of a kind, oldest first."""
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
    """Return the readable messages; skip damaged ones."""
    messages = []
    for row in rows:
        with suppress(ValueError):
            messages.append(_message(row))
    return messages


def _message(row: sqlite3.Row) -> OutgoingRecord:
    held = dict(row)
    held |= {"hook": json.loads(held["hook"]), "payload": json.loads(held["payload"])}
    return OutgoingRecord(**held)
