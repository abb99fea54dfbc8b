"""One SQLite file, one connection, one process: every write is durable when the call returns.

WAL with `synchronous=FULL` costs a quarter of a millisecond a commit, so nothing is batched and
nothing is lost. A file that cannot be read is put aside under another name and told of, never
overwritten; a file from a newer cockpit is refused.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

from cockpit.adapters.store.migrations import MIGRATIONS
from cockpit.core.errors import Failed, Hindered
from cockpit.core.ids import AgentName, JobId, SessionId
from cockpit.ports.records import (
    EventRecord,
    HandoffRecord,
    JobRecord,
    SeatRecord,
    SessionRecord,
)

KEPT_EVENTS = 20_000
"""Older events go when this many newer ones are there."""

Record = TypeVar("Record", SeatRecord, JobRecord, SessionRecord, HandoffRecord)

_AS_JSON = {"settings", "record", "details", "data"}


class Store:
    """The supervisor's memory. Not for two processes, nor for two threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.put_aside: Path | None = None
        """Where an unreadable file was moved, if there was one."""
        self._database = self._open()

    def _open(self) -> sqlite3.Connection:
        try:
            return _connect(self.path)
        except sqlite3.DatabaseError as broken:
            self.put_aside = _put_aside(self.path)
            if self.put_aside is None:
                raise Failed(f"{self.path} cannot be opened", str(broken)) from None
            return _connect(self.path)

    def close(self) -> None:
        self._database.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of it or nothing of it; may be nested, the outermost commits.

        Must not be left waiting: what others write meanwhile would be part of it.
        """
        if self._database.in_transaction:
            yield
            return
        self._run("begin immediate")
        try:
            yield
            self._run("commit")
        except BaseException:
            # SQLite may have rolled back by itself, on a full disk for one.
            if self._database.in_transaction:
                self._database.execute("rollback")
            raise

    # Seats

    def seats(self) -> list[SeatRecord]:
        return self._all(SeatRecord, "select * from seats order by rowid")

    def save_seat(self, seat: SeatRecord) -> None:
        self._upsert("seats", "name", asdict(seat))

    def forget_seat(self, name: AgentName) -> None:
        """Also its jobs that no session ever began; what was stays."""
        with self.transaction():
            self._run("delete from seats where name = ?", name)
            self._run("delete from dialogs where agent = ?", name)
            self._run(
                "delete from jobs where agent = ? and not exists "
                "(select 1 from sessions where job = jobs.id) and not exists "
                "(select 1 from handoffs where job = jobs.id)",
                name,
            )

    # Jobs and sessions

    def add_job(self, job: JobRecord) -> None:
        self._upsert("jobs", "id", asdict(job))

    def job(self, job: JobId) -> JobRecord | None:
        return self._one(JobRecord, "select * from jobs where id = ?", job)

    def jobs(self, agent: str | None = None) -> list[JobRecord]:
        return self._all(
            JobRecord, "select * from jobs where ?1 is null or agent = ?1 order by created", agent
        )

    def save_session(self, session: SessionRecord) -> None:
        self._upsert("sessions", "id", asdict(session))

    def session(self, session: str) -> SessionRecord | None:
        return self._one(SessionRecord, "select * from sessions where id = ?", session)

    def has_run(self, run: str) -> bool:
        """Whether a session of ours was ever marked so."""
        found = self._run("select 1 from sessions where run = ? limit 1", run)
        return found.fetchone() is not None

    def chain(self, job: JobId) -> list[SessionRecord]:
        """The sessions of a job, in order."""
        return self._all(
            SessionRecord,
            "select * from sessions where job = ? order by number, created",
            job,
        )

    def sessions_over(self, since: float) -> list[SessionRecord]:
        """Those that have ended and began after a time, and keep a record."""
        return self._all(
            SessionRecord,
            "select * from sessions where state in ('handed_off', 'ended', 'undone') "
            "and transcript is not null and created >= ? order by created",
            since,
        )

    # Handoffs

    def save_handoff(self, handoff: HandoffRecord) -> None:
        self._upsert("handoffs", "id", asdict(handoff))

    def handoff(self, handoff: str) -> HandoffRecord | None:
        return self._one(HandoffRecord, "select * from handoffs where id = ?", handoff)

    def handoffs_named(self, start: str) -> list[HandoffRecord]:
        """Those whose id begins so, or whose document or copy has exactly this path."""
        return self._all(
            HandoffRecord,
            "select * from handoffs where substr(id, 1, length(?1)) = ?1 or document = ?1 "
            "or copy = ?1 order by created",
            start,
        )

    def handoffs_with_copy(self) -> list[HandoffRecord]:
        """Those whose document's copy is kept, oldest first."""
        return self._all(
            HandoffRecord, "select * from handoffs where copy is not null order by created"
        )

    def handoffs(self, job: JobId) -> list[HandoffRecord]:
        return self._all(
            HandoffRecord, "select * from handoffs where job = ? order by created", job
        )

    def open_handoffs(self) -> list[HandoffRecord]:
        """Those that have not ended, oldest first: what a supervisor comes back to."""
        return self._all(
            HandoffRecord, "select * from handoffs where ended is null order by created"
        )

    def last_ended(self, session: SessionId) -> HandoffRecord | None:
        """The last handoff of this session, if it has ended."""
        found = self._one(
            HandoffRecord,
            "select * from handoffs where old_session = ? order by created desc limit 1",
            session,
        )
        return found if found is not None and found.ended is not None else None

    def swaps(self, agent: AgentName, since: float, but: str = "") -> int:
        """Handoffs of this agent that ended a session after a time, those for a reason aside.

        Also those that brought the same session back, since no other one would start.

        `since` is in steady seconds, which a handoff keeps as `closed` among its details.
        """
        row = self._run(
            "select count(*) from handoffs where agent = ? and outcome in ('done', 'revived') "
            "and json_extract(details, '$.closed') >= ? and reason <> ?",
            agent,
            since,
            but,
        ).fetchone()
        return int(row[0])

    # Latches

    def latch(self, session: SessionId, name: str, at: float) -> bool:
        """Set it; False if it was set already. Survives restarts, so nothing alarms twice."""
        if self.latched(session, name) is not None:
            return False  # asked after every reading: what stands is not written again
        done = self._run(
            "insert or ignore into latches(session, name, at) values (?, ?, ?)", session, name, at
        )
        return done.rowcount == 1

    def latched(self, session: SessionId, name: str) -> float | None:
        """When it was set; None if it is not."""
        row = self._run(
            "select at from latches where session = ? and name = ?", session, name
        ).fetchone()
        return None if row is None else float(row[0])

    def unlatch(self, session: SessionId, *names: str) -> None:
        for name in names:
            self._run("delete from latches where session = ? and name = ?", session, name)

    def boot_epoch(self, boot: str, found: float) -> float:
        """When this boot began, in unix seconds, as it was found first."""
        self.latch(SessionId(""), f"boot.{boot}", found)
        held = self.latched(SessionId(""), f"boot.{boot}")
        return found if held is None else held

    # Events

    def add_event(
        self, at: float, agent: str | None, kind: str, text: str, data: dict[str, Any]
    ) -> EventRecord:
        done = self._run(
            "insert into events(at, agent, kind, text, data) values (?, ?, ?, ?, ?)",
            at,
            agent,
            kind,
            text,
            json.dumps(data),
        )
        number = int(done.lastrowid or 0)
        if number % 1000 == 0:
            self._run("delete from events where id <= ?", number - KEPT_EVENTS)
        return EventRecord(number, at, AgentName(agent) if agent else None, kind, text, data)

    def events(self, after: int, limit: int) -> list[EventRecord]:
        """Oldest first; `after=0` gives the newest `limit`."""
        if after:
            sql = "select * from events where id > ?1 order by id limit ?2"
        else:
            sql = "select * from (select * from events where id > ?1 order by id desc limit ?2)"
        rows = self._run(sql, after, limit).fetchall()
        found = [EventRecord(**_decoded(dict(row))) for row in rows]
        return found if after else found[::-1]

    def _run(self, sql: str, *values: Any) -> sqlite3.Cursor:
        """Raises `Hindered` for what the disk does not take; nothing of it is written then."""
        try:
            return self._database.execute(sql, values)
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR:
                raise  # a statement that makes no sense is no fault of the machine's
            raise Hindered(
                "The database cannot be written",
                f"{self.path}: {error}.",
                "Is the disk full? It is tried again by itself.",
            ) from error

    def _all(self, kind: type[Record], sql: str, *values: Any) -> list[Record]:
        names = {each.name for each in fields(kind)}
        found = []
        for row in self._run(sql, *values).fetchall():
            held = {key: value for key, value in dict(row).items() if key in names}
            found.append(kind(**_decoded(held)))
        return found

    def _one(self, kind: type[Record], sql: str, *values: Any) -> Record | None:
        found = self._all(kind, sql, *values)
        return found[0] if found else None

    def _upsert(self, table: str, key: str, row: dict[str, Any]) -> None:
        held = {
            name: json.dumps(value) if name in _AS_JSON else value for name, value in row.items()
        }
        columns = ", ".join(held)
        marks = ", ".join("?" for _ in held)
        changes = ", ".join(f"{name} = excluded.{name}" for name in held if name != key)
        # Table and column names are ours; every value is bound.
        self._run(
            f"insert into {table} ({columns}) values ({marks}) "
            f"on conflict ({key}) do update set {changes}",
            *held.values(),
        )


def _decoded(row: dict[str, Any]) -> dict[str, Any]:
    decoded = {
        name: json.loads(value) if name in _AS_JSON else value for name, value in row.items()
    }
    if "wanted" in decoded:
        decoded["wanted"] = bool(decoded["wanted"])
    return decoded


def _connect(path: Path) -> sqlite3.Connection:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    os.fchmod(handle, 0o600)
    os.close(handle)
    database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    database.row_factory = sqlite3.Row
    try:
        database.execute("pragma journal_mode = wal")
        database.execute("pragma synchronous = full")
        database.execute("pragma foreign_keys = on")
        if database.execute("pragma quick_check").fetchone()[0] != "ok":
            raise sqlite3.DatabaseError("the file is damaged")
        _migrate(database, path)
    except BaseException:
        database.close()
        raise
    return database


def _migrate(database: sqlite3.Connection, path: Path) -> None:
    taken = int(database.execute("pragma user_version").fetchone()[0])
    if taken > len(MIGRATIONS):
        raise Failed(
            f"{path} was written by a newer cockpit",
            f"It has shape {taken}; this version knows {len(MIGRATIONS)}.",
            "Run the newer version, or move the file away to begin anew.",
        )
    for number, migration in enumerate(MIGRATIONS[taken:], start=taken + 1):
        database.execute("begin immediate")
        try:
            migration(database)
            database.execute(f"pragma user_version = {number}")
        except BaseException:
            database.execute("rollback")
            raise
        database.execute("commit")


def _put_aside(path: Path) -> Path | None:
    """Move a file that cannot be read to a name of its own, its journal with it."""
    if not path.is_file() or path.is_symlink():
        return None
    number = 1
    while (aside := path.with_name(f"{path.name}.unreadable-{number}")).exists():
        number += 1
    path.rename(aside)
    for ending in ("-wal", "-shm"):
        journal = path.with_name(path.name + ending)
        if journal.exists():
            journal.rename(aside.with_name(aside.name + ending))
    return aside
