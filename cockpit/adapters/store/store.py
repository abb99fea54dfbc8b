"""The supervisor's records: agents, jobs, sessions, handoffs, costs, flags and events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, fields
from typing import Any

from cockpit.adapters.store.database import Database
from cockpit.adapters.store.rows import DamagedValue, decoded_row
from cockpit.core.compaction_point import SeenPoint
from cockpit.core.handoff.details import details_to_record
from cockpit.core.ids import AgentName, JobId, SessionId
from cockpit.ports.records import (
    AgentRecord,
    EventRecord,
    HandoffRecord,
    JobRecord,
    SessionRecord,
)

KEPT_EVENTS = 20_000
"""Minimum number of newest events that are kept; older ones are deleted from time to time."""


class Store(Database):
    """Reads and writes the supervisor's records."""

    # Agents

    def agents(self) -> list[AgentRecord]:
        return self._all(AgentRecord, "select * from seats order by rowid")

    def save_agent(self, agent: AgentRecord) -> None:
        self._upsert("seats", "name", asdict(agent))

    def forget_agent(self, name: AgentName) -> None:
        """Delete an agent, its stored dialog, and its jobs without sessions and handoffs.

        The agent's history stays.
        """
        with self.transaction():
            self.run("delete from seats where name = ?", name)
            self.run("delete from dialogs where agent = ?", name)
            self.run(
                "delete from jobs where agent = ? and not exists "
                "(select 1 from sessions where job = jobs.id) and not exists "
                "(select 1 from handoffs where job = jobs.id)",
                name,
            )

    def rename_agent(self, old: AgentName, new: AgentName) -> None:
        """Rename an agent, in its row and in all its records.

        The new name must be free. Records of an earlier agent of the new name are kept, except that
        agent's stored dialog.
        """
        with self.transaction():
            self.run("delete from dialogs where agent = ?", new)
            self.run("update seats set name = ? where name = ?", new, old)
            for table in ("dialogs", "jobs", "sessions", "handoffs", "outgoing", "events"):
                self.run(f"update {table} set agent = ? where agent = ?", new, old)

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
        """Return the session with this id. Without one, return the newest session that has this id
        as its CLI session id."""
        return self._one(
            SessionRecord,
            "select * from sessions where id = ?1 or cli_id = ?1 "
            "order by id = ?1 desc, created desc limit 1",
            session,
        )

    def has_run(self, run: str) -> bool:
        """Return whether any session in this database had this `COCKPIT_RUN`."""
        rows = self.run("select 1 from sessions where run = ? limit 1", run)
        return rows.fetchone() is not None

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
        """Return the sessions that have a transcript and ended at `since` (Unix seconds) or later,
        oldest first. If an ended session's end is unknown, the session's start is used."""
        return self._all(
            SessionRecord,
            "select * from sessions where state in ('handed_off', 'ended', 'undone') "
            "and transcript is not null and coalesce(ended, created) >= ? order by created",
            since,
        )

    def live_sessions(self) -> list[SessionRecord]:
        """Return all agents' sessions that are not recorded as ended."""
        return self._all(SessionRecord, "select * from sessions where state = 'live'")

    def end_other_sessions(self, agent: AgentName, session: SessionId, at: float) -> None:
        """Mark every session of the agent except `session` as ended, because an agent has one
        session at a time."""
        self.run(
            "update sessions set state = 'ended', ended = ? "
            "where agent = ? and id <> ? and state = 'live'",
            at,
            agent,
            session,
        )

    # Handoffs

    def save_handoff(self, handoff: HandoffRecord) -> None:
        # `asdict` would copy the details and the state, item by item, for each new state.
        row = {field.name: getattr(handoff, field.name) for field in fields(handoff)}
        self._upsert("handoffs", "id", {**row, "details": details_to_record(handoff.details)})

    def handoff(self, handoff: str) -> HandoffRecord | None:
        return self._one(HandoffRecord, "select * from handoffs where id = ?", handoff)

    def handoffs_named(self, start: str) -> list[HandoffRecord]:
        """Return the handoffs whose id begins with `start`, or whose document or copy has `start`
        as its path, oldest first.
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
        """Return at most `limit` handoffs, newest first.

        `agent` limits the result to this agent's handoffs, and `before` to handoffs that are older
        than the handoff with this id.
        """
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
        rows = self.run("select count(*) from handoffs where ?1 is null or agent = ?1", agent)
        return int(rows.fetchone()[0])

    def handoffs_of(self, job: JobId, session: str) -> list[HandoffRecord]:
        """Return the job's handoffs that began in this session, oldest first."""
        return self._all(
            HandoffRecord,
            "select * from handoffs where job = ? and old_session = ? order by created",
            job,
            session,
        )

    def each_handoff(self, job: JobId) -> Iterator[HandoffRecord]:
        """Like `handoffs`, but decodes one database row at a time, because a job can have thousands
        of handoffs."""
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
        """Return this session's latest handoff if that handoff has ended; None otherwise."""
        row = self._one(
            HandoffRecord,
            "select * from handoffs where old_session = ? order by created desc limit 1",
            session,
        )
        return row if row is not None and row.ended is not None else None

    def swaps(self, agent: AgentName, since: float, but: str = "") -> int:
        """Count the agent's handoffs that ended a session at `since` or later, except those with
        the reason `but`.

        Includes handoffs that reopened the same session because no new session started. `since` is
        in seconds of `Clock.steady`, like `closed` in a handoff's details.
        """
        row = self.run(
            "select count(*) from handoffs where agent = ? and outcome in ('done', 'revived') "
            "and iif(json_valid(details), json_extract(details, '$.closed'), 0) >= ? "
            "and reason <> ?",
            agent,
            since,
            but,
        ).fetchone()
        return int(row[0])

    # Compaction points, costs and flags

    def compaction_point(self, key: str) -> SeenPoint:
        """Return the observed compaction point with this key; an empty one if there is none."""
        rows = self.run("select passed, compacted from compaction_points where key = ?", key)
        row = rows.fetchone()
        return SeenPoint(row["passed"], row["compacted"]) if row is not None else SeenPoint()

    def save_compaction_point(self, key: str, seen: SeenPoint) -> None:
        """Store an observed compaction point, replacing the old value."""
        self.run(
            "insert or replace into compaction_points(key, passed, compacted) values (?, ?, ?)",
            key,
            seen.passed,
            seen.compacted,
        )

    def day_cost(self, day: str) -> float:
        """Return the cost that was counted for a day, in US dollars."""
        row = self.run("select usd from day_costs where day = ?", day).fetchone()
        return 0.0 if row is None else float(row[0])

    def counted_cost(self, *sessions: str) -> float | None:
        """Return the largest cost that was counted for one of these session ids; None if no cost
        was counted."""
        rows = [
            float(row[0])
            for session in sessions
            for row in self.run("select usd from counted_costs where session = ?", session)
        ]
        return max(rows, default=None)

    def count_cost(self, day: str, more: float, session: str, total: float) -> None:
        """Add `more` to the cost of a day, and store `total` as the session's counted cost."""
        with self.transaction():
            self.run(
                "insert into day_costs(day, usd) values (?1, ?2) "
                "on conflict(day) do update set usd = round(usd + ?2, 6)",
                day,
                more,
            )
            self.run(
                "insert or replace into counted_costs(session, usd) values (?, ?)", session, total
            )

    def latch(self, session: SessionId, name: str, at: float) -> bool:
        """Store a flag of the session with the time `at`; return False if the flag was already
        stored. Stored flags prevent duplicate reports."""
        if self.latched(session, name) is not None:
            return False  # called after every reading, so a flag that is set is not written again
        done = self.run(
            "insert or ignore into latches(session, name, at) values (?, ?, ?)", session, name, at
        )
        return done.rowcount == 1

    def latched(self, session: SessionId, name: str) -> float | None:
        """Return when the session's flag was stored; None if it is not stored."""
        row = self.run(
            "select at from latches where session = ? and name = ?", session, name
        ).fetchone()
        return None if row is None else float(row[0])

    def unlatch(self, session: SessionId, *names: str) -> None:
        for name in names:
            self.run("delete from latches where session = ? and name = ?", session, name)

    def unlatch_all(self, session: SessionId) -> None:
        """Remove every stored flag of the session."""
        self.run("delete from latches where session = ?", session)

    def sessions_latched(self, name: str) -> list[SessionId]:
        """Return the ids of the sessions with this stored flag, oldest flag first."""
        rows = self.run("select session from latches where name = ? order by at", name).fetchall()
        return [SessionId(row[0]) for row in rows]

    def boot_epoch(self, boot: str, epoch: float) -> float:
        """Return the Unix time of this boot as it was first stored. If none is stored, store and
        return `epoch`."""
        self.latch(SessionId(""), f"boot.{boot}", epoch)
        held = self.latched(SessionId(""), f"boot.{boot}")
        return epoch if held is None else held

    # Events

    def add_event(
        self, at: float, agent: str | None, kind: str, text: str, data: dict[str, Any]
    ) -> EventRecord:
        done = self.run(
            "insert into events(at, agent, kind, text, data) values (?, ?, ?, ?, ?)",
            at,
            agent,
            kind,
            text,
            json.dumps(data),
        )
        number = int(done.lastrowid or 0)
        if number % 1000 == 0:
            self.run("delete from events where id <= ?", number - KEPT_EVENTS)
        return EventRecord(number, at, AgentName(agent) if agent else None, kind, text, data)

    def events(self, after: int, limit: int) -> list[EventRecord]:
        """Return at most `limit` events after the id `after`, oldest first; with `after=0`, the
        newest ones."""
        if after:
            sql = "select * from events where id > ?1 order by id limit ?2"
        else:
            sql = "select * from (select * from events where id > ?1 order by id desc limit ?2)"
        rows = self.run(sql, after, limit).fetchall()
        events = []
        for row in rows:
            with suppress(DamagedValue):  # the damaged row stays in its table, and is not returned
                events.append(EventRecord(**decoded_row(dict(row))))
        return events if after else events[::-1]

    def last_exit(self, agent: AgentName, since: float) -> EventRecord | None:
        """Return the agent's latest event `agent.exited` at `since` or later; None if there is
        none."""
        row = self.run(
            "select * from events where agent = ? and kind = 'agent.exited' and at >= ? "
            "order by id desc limit 1",
            agent,
            since,
        ).fetchone()
        with suppress(DamagedValue):
            return EventRecord(**decoded_row(dict(row))) if row is not None else None
        return None
