"""The database: one SQLite file with one connection, used by one process. Every write is durable
when the call returns.

A commit takes a quarter of a millisecond (WAL with `synchronous=FULL`), so nothing is batched. A
file that cannot be read is moved aside and reported, never overwritten. A file from a newer cockpit
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
"""Number of newest events that are kept; older ones are deleted."""

Record = TypeVar("Record", AgentRecord, JobRecord, SessionRecord, HandoffRecord)

_AS_JSON = {"settings", "record", "details", "data", "chosen_modes"}


class Store:
    """The supervisor's database, for one process and one thread. Call `open` first and `close`
    last.
    """

    _database: sqlite3.Connection

    def __init__(self, path: Path) -> None:
        self.path = path
        self.put_aside: Path | None = None
        """The new path of an unreadable database file; None if the file was readable."""
        self.refused: str | None = None
        """Why a write failed, until `try_to_write` succeeds."""
        self.rows_put_aside: list[DamagedRow] = []
        """Unreadable rows that were moved to the table `damaged` since this store was opened."""

    def open(self) -> Self:
        """Open or create the database, after moving an unreadable file aside.

        Raises `Failed` for a database of a newer version, and if no database can be opened.
        """
        try:
            self._database = _connect(self.path)
        except sqlite3.DatabaseError as broken:
            self.put_aside = _put_aside(self.path)
            if self.put_aside is None:
                raise Failed(
                    f"Cannot open {self.path}",
                    str(broken),
                    hint="Check the free disk space and the folder's permissions: cockpit doctor",
                ) from None
            self._database = _connect(self.path)
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
        self._run("begin immediate")
        try:
            yield
            self._run("commit")
        except BaseException:
            # SQLite may have rolled back by itself, for example on a full disk.
            if self._database.in_transaction:
                self._database.execute("rollback")
            raise

    def try_to_write(self) -> None:
        """Write an existing value, to test whether the disk is writable. Raises `Hindered`."""
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
        """Delete an agent, and its jobs that never had a session. Its history stays."""
        with self.transaction():
            self._run("delete from seats where name = ?", name)
            self._run("delete from dialogs where agent = ?", name)
            self._run(
                "delete from jobs where agent = ? and not exists "
                "(select 1 from sessions where job = jobs.id) and not exists "
                "(select 1 from handoffs where job = jobs.id)",
                name,
            )

    def rename_agent(self, old: AgentName, new: AgentName) -> None:
        """Rename an agent, in its row and in all its records.

        The new name must be free. Records of an earlier agent of the new name are kept.
        """
        with self.transaction():
            self._run("delete from dialogs where agent = ?", new)
            self._run("update seats set name = ? where name = ?", new, old)
            for table in ("dialogs", "jobs", "sessions", "handoffs", "outgoing", "events"):
                self._run(f"update {table} set agent = ? where agent = ?", new, old)

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
        """Return the session with this id; otherwise the newest session with this CLI session
        id."""
        return self._one(
            SessionRecord,
            "select * from sessions where id = ?1 or cli_id = ?1 "
            "order by id = ?1 desc, created desc limit 1",
            session,
        )

    def has_run(self, run: str) -> bool:
        """Return whether any session in this database had this `COCKPIT_RUN`."""
        found = self._run("select 1 from sessions where run = ? limit 1", run)
        return found.fetchone() is not None

    def session_of_run(self, run: str) -> SessionRecord | None:
        """Return the newest session whose processes have this `COCKPIT_RUN`."""
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
        """Return the ended sessions that began after `since` and have a transcript."""
        return self._all(
            SessionRecord,
            "select * from sessions where state in ('handed_off', 'ended', 'undone') "
            "and transcript is not null and created >= ? order by created",
            since,
        )

    def live_sessions(self) -> list[SessionRecord]:
        """Return all agents' sessions that are not recorded as ended."""
        return self._all(SessionRecord, "select * from sessions where state = 'live'")

    def end_other_sessions(self, agent: AgentName, session: SessionId, at: float) -> None:
        """Mark every other session of the agent as ended, because an agent has one session at a
        time."""
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
        """Return the handoffs whose id begins with `start`, or whose document or copy has this
        path.
        """
        return self._all(
            HandoffRecord,
            "select * from handoffs where substr(id, 1, length(?1)) = ?1 or document = ?1 "
            "or copy = ?1 order by created",
            start,
        )

    def handoffs_with_copy(self) -> list[HandoffRecord]:
        """Return the handoffs with a copy of the document, oldest first."""
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
        """Return handoffs older than `before`, newest first; with `agent`, only this agent's."""
        # Two different statements, because SQLite uses no index for a condition that may be null.
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
        """Return the handoffs of one session, oldest first."""
        return self._all(
            HandoffRecord,
            "select * from handoffs where job = ? and old_session = ? order by created",
            job,
            session,
        )

    def each_handoff(self, job: JobId) -> Iterator[HandoffRecord]:
        """Like `handoffs`, but decodes one database row at a time, because a job can have
        thousands."""
        return self._each(
            HandoffRecord, "select * from handoffs where job = ? order by created", job
        )

    def each_session(self, job: JobId) -> Iterator[SessionRecord]:
        """Like `chain`, but decodes one database row at a time."""
        return self._each(
            SessionRecord, "select * from sessions where job = ? order by number, created", job
        )

    def open_handoffs(self) -> list[HandoffRecord]:
        """Return the handoffs that have not ended, oldest first."""
        return self._all(
            HandoffRecord, "select * from handoffs where ended is null order by created"
        )

    def last_ended(self, session: SessionId) -> HandoffRecord | None:
        """Return this session's last handoff if it has ended; None otherwise."""
        found = self._one(
            HandoffRecord,
            "select * from handoffs where old_session = ? order by created desc limit 1",
            session,
        )
        return found if found is not None and found.ended is not None else None

    def swaps(self, agent: AgentName, since: float, but: str = "") -> int:
        """Count the agent's handoffs that ended a session after `since`, except those with the
        reason `but`.

        Includes handoffs that reopened the same session because no new session started. `since` is
        in seconds of `Clock.steady`, like `closed` in a handoff's details.
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

    # Stored flags

    def compaction_point(self, key: str) -> SeenPoint:
        """Return the token counts at which a CLI was observed to compact."""
        found = self._run("select passed, compacted from compaction_points where key = ?", key)
        row = found.fetchone()
        return SeenPoint(row["passed"], row["compacted"]) if row is not None else SeenPoint()

    def save_compaction_point(self, key: str, seen: SeenPoint) -> None:
        """Store an observed compaction point, replacing the old value."""
        self._run(
            "insert or replace into compaction_points(key, passed, compacted) values (?, ?, ?)",
            key,
            seen.passed,
            seen.compacted,
        )

    def day_cost(self, day: str) -> float:
        """Return what was counted for a day, in US dollars."""
        row = self._run("select usd from day_costs where day = ?", day).fetchone()
        return 0.0 if row is None else float(row[0])

    def counted_cost(self, *sessions: str) -> float | None:
        """Return the largest cost that was counted of any of these ids; None if none was."""
        found = [
            float(row[0])
            for session in sessions
            for row in self._run("select usd from counted_costs where session = ?", session)
        ]
        return max(found, default=None)

    def count_cost(self, day: str, more: float, session: str, total: float) -> None:
        """Add `more` to the cost of a day, and store that `total` of the session was counted."""
        with self.transaction():
            self._run(
                "insert into day_costs(day, usd) values (?1, ?2) "
                "on conflict(day) do update set usd = round(usd + ?2, 6)",
                day,
                more,
            )
            self._run(
                "insert or replace into counted_costs(session, usd) values (?, ?)", session, total
            )

    def latch(self, session: SessionId, name: str, at: float) -> bool:
        """Store a flag of the session with the time `at`; return False if the flag was already
        stored. Stored flags keep anything from being reported twice."""
        if self.latched(session, name) is not None:
            return False  # called after every reading, so a flag that is set is not written again
        done = self._run(
            "insert or ignore into latches(session, name, at) values (?, ?, ?)", session, name, at
        )
        return done.rowcount == 1

    def latched(self, session: SessionId, name: str) -> float | None:
        """Return when the session's flag was stored; None if it is not stored."""
        row = self._run(
            "select at from latches where session = ? and name = ?", session, name
        ).fetchone()
        return None if row is None else float(row[0])

    def unlatch(self, session: SessionId, *names: str) -> None:
        for name in names:
            self._run("delete from latches where session = ? and name = ?", session, name)

    def unlatch_all(self, session: SessionId) -> None:
        """Remove every stored flag of the session."""
        self._run("delete from latches where session = ?", session)

    def sessions_latched(self, name: str) -> list[SessionId]:
        """Return the ids of the sessions with this stored flag, oldest flag first."""
        rows = self._run("select session from latches where name = ? order by at", name).fetchall()
        return [SessionId(row[0]) for row in rows]

    def boot_epoch(self, boot: str, found: float) -> float:
        """Return the Unix time of this boot as it was first stored; store `found` if there is
        none."""
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
        """Return at most `limit` events after the id `after`, oldest first; with `after=0`, the
        newest ones."""
        if after:
            sql = "select * from events where id > ?1 order by id limit ?2"
        else:
            sql = "select * from (select * from events where id > ?1 order by id desc limit ?2)"
        rows = self._run(sql, after, limit).fetchall()
        found = []
        for row in rows:
            with suppress(DamagedValue):  # the damaged row stays in its table, and is not returned
                found.append(EventRecord(**_decoded(dict(row))))
        return found if after else found[::-1]

    def last_exit(self, agent: AgentName, since: float) -> EventRecord | None:
        """Return the agent's last event `agent.exited` after `since`; None if there is none."""
        row = self._run(
            "select * from events where agent = ? and kind = 'agent.exited' and at >= ? "
            "order by id desc limit 1",
            agent,
            since,
        ).fetchone()
        with suppress(DamagedValue):
            return EventRecord(**_decoded(dict(row))) if row is not None else None
        return None

    def _run(self, sql: str, *values: Any) -> sqlite3.Cursor:
        """Execute a statement. Raises `Hindered` if the disk fails; then nothing was written."""
        try:
            return self._database.execute(sql, values)
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR:
                raise  # an invalid statement is a bug, not a disk error
            self.refused = f"{self.path}: {error}"
            raise Hindered(
                "Cannot write the database",
                f"{self.path}: {error}.",
                "Is the disk full? cockpit retries automatically.",
            ) from error

    def _all(self, kind: type[Record], sql: str, *values: Any) -> list[Record]:
        return list(self._each(kind, sql, *values))

    def _each(self, kind: type[Record], sql: str, *values: Any) -> Iterator[Record]:
        """Fetch all rows at the first step, and yield them decoded one at a time."""
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
        """Move an unreadable database row with all its values aside, so that other rows can be
        read.

        A job's row stays in its table and is skipped, because sessions refer to it.
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
                # Compared as bytes: an undecodable value equals no text that could be bound.
                identity = getattr(row[key], "raw", None) or str(row[key]).encode()
                self._run(f"delete from {table} where cast({key} as blob) = ?", identity)
        self.rows_put_aside.append(damaged)

    def _without_damage(self, kind: type[Record], row: dict[str, Any]) -> dict[str, Any]:
        """Return the database row without damaged optional texts, which are moved to the table
        `damaged`.

        Raises `DamagedValue` if a required value is damaged.
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
        # Table and column names are constants; every value is bound.
        self._run(
            f"insert into {table} ({columns}) values ({marks}) "
            f"on conflict ({key}) do update set {changes}",
            *held.values(),
        )


@dataclass(frozen=True, slots=True)
class DamagedRow:
    """A database row that could not be read and was moved aside."""

    table: str
    id: str
    agent: str
    """Name of the agent in the database row; empty if it cannot be read."""
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
    """Return the values of a database row. Raises `DamagedValue`."""
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
            f"It has schema version {taken}; this version supports {len(MIGRATIONS)}.",
            "Run the newer version, or move the file away to start with an empty database.",
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
    """Rename an unreadable file together with its journal; return the new path."""
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
