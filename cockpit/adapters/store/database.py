"""The database: one SQLite file with one connection, used by one process. Every write is durable
when the call returns.

A commit takes a quarter of a millisecond (WAL with `synchronous=FULL`), so nothing is batched. A
file with unreadable content is moved aside and reported, never overwritten. A file from a newer
cockpit is refused.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, Self

from cockpit.adapters.store.database_file import connect, is_unreadable, put_aside, reason_and_step
from cockpit.adapters.store.rows import (
    AS_JSON,
    TABLES,
    DamagedRow,
    DamagedValue,
    Record,
    Unreadable,
    decoded_row,
)
from cockpit.core.errors import Failed, OsProblem
from cockpit.ports.records import JobRecord


class Database:
    """A connection to the database, for one thread. Call `open` first and `close` last."""

    _database: sqlite3.Connection

    def __init__(self, path: Path) -> None:
        self.path = path
        self.put_aside: Path | None = None
        """The new path of an unreadable database file; None if the file was readable."""
        self.refused: str | None = None
        """The error of the latest failed write, until `try_to_write` succeeds; None without one."""
        self.rows_put_aside: list[DamagedRow] = []
        """Rows whose unreadable values were saved in the table `damaged` since the database was
        opened."""

    def open(self) -> Self:
        """Open or create the database, after moving an unreadable file aside.

        A file that cannot be opened because of a lock or a disk error stays where it is. Raises
        `Failed` for such a file, and for a database of a newer version.
        """
        try:
            try:
                self._database = connect(self.path)
            except sqlite3.DatabaseError as broken:
                if not is_unreadable(broken) or (moved := put_aside(self.path)) is None:
                    raise
                self.put_aside = moved
                self._database = connect(self.path)
        except (sqlite3.DatabaseError, OSError) as error:
            raise Failed(f"Cannot open {self.path}", *reason_and_step(self.path, error)) from error
        return self

    def close(self) -> None:
        self._database.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run a transaction. Can be nested; the outermost one commits.

        Do not await in a transaction, because other tasks' writes would become part of it.
        """
        if self._database.in_transaction:
            yield
            return
        self.run("begin immediate")
        try:
            yield
            self.run("commit")
        except BaseException:
            # SQLite may have rolled back by itself, for example on a full disk.
            if self._database.in_transaction:
                self._database.execute("rollback")
            raise

    def try_to_write(self) -> None:
        """Write an existing value, to test whether the disk is writable. Raises `OsProblem`."""
        with self.transaction():
            version = self.run("pragma user_version").fetchone()[0]
            self.run(f"pragma user_version = {int(version)}")
        self.refused = None

    # Statements

    def run(self, sql: str, *values: Any) -> sqlite3.Cursor:
        """Execute a statement. Raises `OsProblem` if the disk fails or another process has locked
        the file; then nothing was written."""
        try:
            return self._database.execute(sql, values)
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR:
                raise  # an invalid statement is a bug, not a disk error
            self.refused = f"{self.path}: {error}"
            raise OsProblem(
                "Cannot write the database",
                f"{self.path}: {error}.",
                "Check the free space of the disk; cockpit retries automatically.",
            ) from error

    def _all(self, kind: type[Record], sql: str, *values: Any) -> list[Record]:
        return list(self._each(kind, sql, *values))

    def _each(self, kind: type[Record], sql: str, *values: Any) -> Iterator[Record]:
        """Yield the rows as records, one at a time; damaged rows are moved aside. Fetches all rows
        at the first step."""
        names = {field.name for field in fields(kind)}
        for row in self.run(sql, *values).fetchall():
            held = {key: value for key, value in dict(row).items() if key in names}
            try:
                held = self._without_damage(kind, held)
                decoded = decoded_row(held)
            except DamagedValue as wrong:
                self._move_row_aside(kind, held, wrong)
                continue
            yield kind(**decoded)

    def _move_row_aside(self, kind: type[Record], row: dict[str, Any], wrong: DamagedValue) -> None:
        """Move an unreadable database row with all its values aside, so that other rows can be
        read.

        A job's row stays in its table and is skipped, because sessions refer to the row.
        """
        table, key = TABLES[kind]
        agent = row.get("agent") or row.get("name") or ""
        damaged = DamagedRow(table, str(row[key]), str(agent), str(wrong))
        if damaged in self.rows_put_aside:
            return
        content = {name: str(value) if value is not None else None for name, value in row.items()}
        with self.transaction():
            self.run(
                "insert into damaged(at, place, id, why, content) "
                "values (strftime('%s'), ?, ?, ?, ?)",
                *(table, damaged.id, damaged.why, json.dumps(content)),
            )
            if kind is not JobRecord:
                # Compared as bytes: an undecodable value equals no text that could be bound.
                identity = getattr(row[key], "raw", None) or str(row[key]).encode()
                self.run(f"delete from {table} where cast({key} as blob) = ?", identity)
        self.rows_put_aside.append(damaged)

    def _without_damage(self, kind: type[Record], row: dict[str, Any]) -> dict[str, Any]:
        """Return the database row without damaged optional texts, which are moved to the table
        `damaged`.

        Returns the row unchanged if a required value is damaged.
        """
        optional = {field.name for field in fields(kind) if "None" in str(field.type)}
        bad = [name for name, value in row.items() if isinstance(value, Unreadable)]
        if not bad or not optional.issuperset(bad):
            return row
        table, key = TABLES[kind]
        why = f"unreadable: {', '.join(bad)}"
        changes = ", ".join(f"{name} = null" for name in bad)
        kept = json.dumps({name: str(row[name]) for name in bad})
        with self.transaction():
            self.run(
                "insert into damaged(at, place, id, why, content) "
                "values (strftime('%s'), ?, ?, ?, ?)",
                *(table, str(row[key]), why, kept),
            )
            self.run(f"update {table} set {changes} where {key} = ?", row[key])
        agent = str(row.get("agent") or row.get("name") or "")
        self.rows_put_aside.append(DamagedRow(table, str(row[key]), agent, why))
        return {**row, **dict.fromkeys(bad)}

    def _one(self, kind: type[Record], sql: str, *values: Any) -> Record | None:
        rows = self._all(kind, sql, *values)
        return rows[0] if rows else None

    def _upsert(self, table: str, key: str, row: dict[str, Any]) -> None:
        held = {
            name: json.dumps(value) if name in AS_JSON else value for name, value in row.items()
        }
        columns = ", ".join(held)
        marks = ", ".join("?" for _ in held)
        changes = ", ".join(f"{name} = excluded.{name}" for name in held if name != key)
        # Table and column names are constants; every value is bound.
        self.run(
            f"insert into {table} ({columns}) values ({marks}) "
            f"on conflict ({key}) do update set {changes}",
            *held.values(),
        )
