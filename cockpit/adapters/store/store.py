"""One SQLite file, one connection, one process: every write is durable when the call returns.

WAL with `synchronous=FULL` costs a quarter of a millisecond per commit, so nothing is batched. A
file that cannot be read is moved aside and reported, never overwritten; a file from a newer cockpit
is refused.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self, TypeVar

from cockpit.adapters.store.migrations import MIGRATIONS
from cockpit.core.compaction_point import SeenPoint
from cockpit.core.errors import Failed, Hindered
from cockpit.core.handoff.details import details_from_record, details_to_record
from cockpit.core.ids import AgentName, JobId, SessionId
from cockpit.ports.records import (
    AgentRecord,
    EventRecord,
    HandoffRecord,
    JobRecord,
    SessionRecord,
)

KEPT_EVENTS = 20_000
"""Events older than this many newer ones are deleted."""

Record = TypeVar("Record", AgentRecord, JobRecord, SessionRecord, HandoffRecord)

_AS_JSON = {"settings", "record", "details", "data"}


class Store:
    """The supervisor's database, for one process and one thread. `open` comes first, `close`
    last.
    """

    _database: sqlite3.Connection

    def __init__(self, path: Path) -> None:
        self.path = path
        self.put_aside: Path | None = None
        """Where an unreadable file was moved, if there was one."""
        self.refused: str | None = None
        """Why a write failed, until `try_to_write` succeeds."""
        self.rows_put_aside: list[DamagedRow] = []
        """Rows that could not be read since this was opened: now in `damaged`, no longer in
        their tables."""

    def open(self) -> Self:
        """Open or create the database; an unreadable file is moved aside first.

        Raises `Failed` for one of a newer version, and if nothing can be opened.
        """
        try:
            self._database = _connect(self.path)
        except sqlite3.DatabaseError as broken:
            self.put_aside = _put_aside(self.path)
            if self.put_aside is None:
                raise Failed(f"Cannot open {self.path}", str(broken)) from None
            self._database = _connect(self.path)
        return self

    def close(self) -> None:
        self._database.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run a transaction; may be nested, the outermost commits.

        Do not await inside it: what other tasks write meanwhile would be part of it.
        """
        if self._database.in_transaction:
            yield
            return
        self._run("begin immediate")
        try:
            yield
            self._run("commit")
        except BaseException:
            # SQLite may have rolled back by itself, on a full disk for example.
            if self._database.in_transaction:
                self._database.execute("rollback")
            raise

    def try_to_write(self) -> None:
        """Write an existing value, to test whether the disk accepts writes. Raises `Hindered`."""
        with self.transaction():
            version = self._run("pragma user_version").fetchone()[0]
            self._run(f"pragma user_version = {int(version)}")
        self.refused = None

    # Agents

    def agents(self) -> list[AgentRecord]:
        return self._all(AgentRecord, "select * from seats order by rowid")

    def save_agent(self, agent: AgentRecord) -> None:
        self._upsert("seats", "name", asdict(agent))

    def forget_agent(self, name: AgentName) -> None:
        """Delete an agent and its jobs that never had a session; its history stays."""
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
        """Return the session with this id, or the newest with this id of its CLI."""
        return self._one(
            SessionRecord,
            "select * from sessions where id = ?1 or cli_id = ?1 "
            "order by id = ?1 desc, created desc limit 1",
            session,
        )

    def has_run(self, run: str) -> bool:
        """Return whether a session of ours ever had this marker."""
        found = self._run("select 1 from sessions where run = ? limit 1", run)
        return found.fetchone() is not None

    def session_of_run(self, run: str) -> SessionRecord | None:
        """Return the newest session whose processes carry this marker."""
        return self._one(
            SessionRecord, "select * from sessions where run = ? order by created desc limit 1", run
        )

    def chain(self, job: JobId) -> list[SessionRecord]:
        """Return the sessions of a job, in order."""
        return self._all(
            SessionRecord,
            "select * from sessions where job = ? order by number, created",
            job,
        )

    def sessions_over(self, since: float) -> list[SessionRecord]:
        """Return ended sessions that began after a time and have a transcript."""
        return self._all(
            SessionRecord,
            "select * from sessions where state in ('handed_off', 'ended', 'undone') "
            "and transcript is not null and created >= ? order by created",
            since,
        )

    def live_sessions(self) -> list[SessionRecord]:
        """Return the sessions of all agents that are not known to have ended."""
        return self._all(SessionRecord, "select * from sessions where state = 'live'")

    def end_other_sessions(self, agent: AgentName, session: SessionId, at: float) -> None:
        """Mark every other session of the agent as ended: an agent has one at a time."""
        self._run(
            "update sessions set state = 'ended', ended = ? "
            "where agent = ? and id <> ? and state = 'live'",
            at,
            agent,
            session,
        )

    # Handoffs

    def save_handoff(self, handoff: HandoffRecord) -> None:
        details = details_to_record(handoff.details)
        self._upsert("handoffs", "id", {**asdict(handoff), "details": details})

    def handoff(self, handoff: str) -> HandoffRecord | None:
        return self._one(HandoffRecord, "select * from handoffs where id = ?", handoff)

    def handoffs_named(self, start: str) -> list[HandoffRecord]:
        """Return handoffs whose id starts like this, or whose document or copy has exactly this
        path.
        """
        return self._all(
            HandoffRecord,
            "select * from handoffs where substr(id, 1, length(?1)) = ?1 or document = ?1 "
            "or copy = ?1 order by created",
            start,
        )

    def handoffs_with_copy(self) -> list[HandoffRecord]:
        """Return handoffs with a copy of the document, oldest first."""
        return self._all(
            HandoffRecord, "select * from handoffs where copy is not null order by created"
        )

    def handoffs(self, job: JobId) -> list[HandoffRecord]:
        return self._all(
            HandoffRecord, "select * from handoffs where job = ? order by created", job
        )

    def newest_handoffs(
        self, agent: str | None, limit: int, before: str | None = None
    ) -> list[HandoffRecord]:
        """Return the handoffs of one agent or all that are older than `before`, newest first."""
        # Two statements: SQLite does not use an index for a condition that may be null.
        older = "and (created, id) < (select created, id from handoffs where id = ?2) "
        where = "(?1 is null or agent = ?1) " + (older if before is not None else "")
        return self._all(
            HandoffRecord,
            f"select * from handoffs where {where}order by created desc, id desc limit ?3",
            agent,
            before,
            limit,
        )

    def count_handoffs(self, agent: str | None) -> int:
        found = self._run("select count(*) from handoffs where ?1 is null or agent = ?1", agent)
        return int(found.fetchone()[0])

    def handoffs_of(self, job: JobId, session: str) -> list[HandoffRecord]:
        """Return the handoffs that one session started, oldest first."""
        return self._all(
            HandoffRecord,
            "select * from handoffs where job = ? and old_session = ? order by created",
            job,
            session,
        )

    def each_handoff(self, job: JobId) -> Iterator[HandoffRecord]:
        """Like `handoffs`, decoded one by one: a job can have thousands."""
        return self._each(
            HandoffRecord, "select * from handoffs where job = ? order by created", job
        )

    def each_session(self, job: JobId) -> Iterator[SessionRecord]:
        """Like `chain`, decoded one by one."""
        return self._each(
            SessionRecord, "select * from sessions where job = ? order by number, created", job
        )

    def open_handoffs(self) -> list[HandoffRecord]:
        """Return the handoffs that have not ended, oldest first; a restarted supervisor
        continues them.
        """
        return self._all(
            HandoffRecord, "select * from handoffs where ended is null order by created"
        )

    def last_ended(self, session: SessionId) -> HandoffRecord | None:
        """Return the last handoff of this session, if it has ended."""
        found = self._one(
            HandoffRecord,
            "select * from handoffs where old_session = ? order by created desc limit 1",
            session,
        )
        return found if found is not None and found.ended is not None else None

    def swaps(self, agent: AgentName, since: float, but: str = "") -> int:
        """Count the agent's handoffs that ended a session after a time, without reason `but`.

        Includes those that reopened the same session because no new one would start. `since` is in
        steady seconds, which a handoff stores as `closed` among its details.
        """
        row = self._run(
            "select count(*) from handoffs where agent = ? and outcome in ('done', 'revived') "
            "and iif(json_valid(details), json_extract(details, '$.closed'), 0) >= ? "
            "and reason <> ?",
            agent,
            since,
            but,
        ).fetchone()
        return int(row[0])

    # Latches

    def compaction_point(self, key: str) -> SeenPoint:
        """Return where a CLI was observed to compact."""
        found = self._run("select passed, compacted from compaction_points where key = ?", key)
        row = found.fetchone()
        return SeenPoint(row["passed"], row["compacted"]) if row is not None else SeenPoint()

    def save_compaction_point(self, key: str, seen: SeenPoint) -> None:
        """Store it, replacing the old value."""
        self._run(
            "insert or replace into compaction_points(key, passed, compacted) values (?, ?, ?)",
            key,
            seen.passed,
            seen.compacted,
        )

    def latch(self, session: SessionId, name: str, at: float) -> bool:
        """Set the latch; False if it was already set. Stored, so that nothing is reported twice."""
        if self.latched(session, name) is not None:
            return False  # asked after every reading: an unchanged latch is not written again
        done = self._run(
            "insert or ignore into latches(session, name, at) values (?, ?, ?)", session, name, at
        )
        return done.rowcount == 1

    def latched(self, session: SessionId, name: str) -> float | None:
        """Return when it was set; None if it is not."""
        row = self._run(
            "select at from latches where session = ? and name = ?", session, name
        ).fetchone()
        return None if row is None else float(row[0])

    def unlatch(self, session: SessionId, *names: str) -> None:
        for name in names:
            self._run("delete from latches where session = ? and name = ?", session, name)

    def boot_epoch(self, boot: str, found: float) -> float:
        """Return the stored start of this boot in unix seconds, as it was first determined."""
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
        """Return events, oldest first; `after=0` returns the newest `limit`."""
        if after:
            sql = "select * from events where id > ?1 order by id limit ?2"
        else:
            sql = "select * from (select * from events where id > ?1 order by id desc limit ?2)"
        rows = self._run(sql, after, limit).fetchall()
        found = []
        for row in rows:
            with suppress(DamagedValue):  # it stays in its table, and is not returned
                found.append(EventRecord(**_decoded(dict(row))))
        return found if after else found[::-1]

    def _run(self, sql: str, *values: Any) -> sqlite3.Cursor:
        """Execute a statement. Raises `Hindered` if the disk fails; then nothing of it is
        written.
        """
        try:
            return self._database.execute(sql, values)
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR:
                raise  # an invalid statement is a bug, not an error of the machine
            self.refused = f"{self.path}: {error}"
            raise Hindered(
                "Cannot write the database",
                f"{self.path}: {error}.",
                "Is the disk full? cockpit tries again automatically.",
            ) from error

    def _all(self, kind: type[Record], sql: str, *values: Any) -> list[Record]:
        return list(self._each(kind, sql, *values))

    def _each(self, kind: type[Record], sql: str, *values: Any) -> Iterator[Record]:
        """Yield the rows, all fetched at the first step and decoded one by one."""
        names = {each.name for each in fields(kind)}
        for row in self._run(sql, *values).fetchall():
            held = {key: value for key, value in dict(row).items() if key in names}
            try:
                held = self._without_damage(kind, held)
                decoded = _decoded(held)
            except DamagedValue as wrong:
                self._move_row_aside(kind, held, wrong)
                continue
            yield kind(**decoded)

    def _move_row_aside(self, kind: type[Record], row: dict[str, Any], wrong: DamagedValue) -> None:
        """Move an unreadable row aside, so that other rows can be read; nothing of it is lost.

        A job stays in its table and is skipped: its sessions refer to it.
        """
        table, key = _TABLES[kind]
        agent = row.get("agent") or row.get("name") or ""
        damaged = DamagedRow(table, str(row[key]), str(agent), str(wrong))
        if damaged in self.rows_put_aside:
            return
        content = {name: str(value) if value is not None else None for name, value in row.items()}
        with self.transaction():
            self._run(
                "insert into damaged(at, place, id, why, content) "
                "values (strftime('%s'), ?, ?, ?, ?)",
                *(table, damaged.id, damaged.why, json.dumps(content)),
            )
            if kind is not JobRecord:
                # By its bytes: an undecodable value equals no text that could be bound.
                identity = getattr(row[key], "raw", None) or str(row[key]).encode()
                self._run(f"delete from {table} where cast({key} as blob) = ?", identity)
        self.rows_put_aside.append(damaged)

    def _without_damage(self, kind: type[Record], row: dict[str, Any]) -> dict[str, Any]:
        """Return the row without damaged optional texts, which are stored in `damaged`.

        Raises `DamagedValue` if a required one is damaged.
        """
        optional = {each.name for each in fields(kind) if "None" in str(each.type)}
        bad = [name for name, value in row.items() if isinstance(value, Unreadable)]
        if not bad or not optional.issuperset(bad):
            return row
        table, key = _TABLES[kind]
        why = f"unreadable: {', '.join(bad)}"
        changes = ", ".join(f"{name} = null" for name in bad)
        kept = json.dumps({name: str(row[name]) for name in bad})
        with self.transaction():
            self._run(
                "insert into damaged(at, place, id, why, content) "
                "values (strftime('%s'), ?, ?, ?, ?)",
                *(table, str(row[key]), why, kept),
            )
            self._run(f"update {table} set {changes} where {key} = ?", row[key])
        agent = str(row.get("agent") or row.get("name") or "")
        self.rows_put_aside.append(DamagedRow(table, str(row[key]), agent, why))
        return {**row, **dict.fromkeys(bad)}

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


@dataclass(frozen=True, slots=True)
class DamagedRow:
    """A row that could not be read and was moved aside."""

    table: str
    id: str
    agent: str
    """Its agent, as far as that can be read."""
    why: str


class DamagedValue(ValueError):
    """A stored value that cannot be read."""


class Unreadable(str):
    """A stored text that is not UTF-8, shown with escapes."""

    raw: bytes


_TABLES: dict[type, tuple[str, str]] = {
    AgentRecord: ("seats", "name"),
    JobRecord: ("jobs", "id"),
    SessionRecord: ("sessions", "id"),
    HandoffRecord: ("handoffs", "id"),
}


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        text = Unreadable(raw.decode("utf-8", "backslashreplace"))
        text.raw = raw
        return text


def _decoded(row: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a row. Raises `DamagedValue`."""
    decoded = {}
    for name, value in row.items():
        if isinstance(value, Unreadable):
            raise DamagedValue(f"unreadable: {name}")
        if name in _AS_JSON:
            try:
                value = json.loads(value)
            except ValueError:
                raise DamagedValue(f"unreadable: {name}") from None
            if not isinstance(value, dict):
                raise DamagedValue(f"unreadable: {name}")
        decoded[name] = value
    if "details" in decoded:
        try:
            decoded["details"] = details_from_record(decoded["details"])
        except ValueError as wrong:
            raise DamagedValue(str(wrong)) from None
    if "wanted" in decoded:
        decoded["wanted"] = bool(decoded["wanted"])
    return decoded


def _connect(path: Path) -> sqlite3.Connection:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    os.fchmod(handle, 0o600)
    os.close(handle)
    database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    database.row_factory = sqlite3.Row
    database.text_factory = _text
    try:
        database.execute("pragma journal_mode = wal")
        database.execute("pragma synchronous = full")
        database.execute("pragma fullfsync = on")  # macOS only, see `sync_descriptor`
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
            f"It has schema version {taken}; this version knows {len(MIGRATIONS)}.",
            "Run the newer version, or move the file away to start fresh.",
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
    """Rename a file that cannot be read, together with its journal."""
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
