"""The costs of a day: every dollar once, and one event for a budget that is reached."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cockpit.adapters.store.migrations import MIGRATIONS
from cockpit.adapters.store.store import Store
from cockpit.config.paths import Places
from cockpit.config.schema import AgentSettings
from cockpit.core.ids import AgentName, JobId, SessionId
from cockpit.ports.records import AgentRecord, JobRecord, SessionRecord
from cockpit.supervisor.agents import daily_costs
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.latches import EARLIER_COST
from cockpit.supervisor.main import dependencies
from cockpit.wire.stream import DaySpent
from tests.manual_clock import ManualClock
from tests.supervisor.sessions_alone import sessions_alone

EVENING = datetime(2026, 1, 31, 22, 50, tzinfo=UTC)
"""23:50 of January 31 in Berlin, ten minutes before midnight."""
TODAY, TOMORROW = "2026-01-31", "2026-02-01"


class Day:
    """One agent whose CLI reports costs; `restart` is what a new supervisor begins with."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.clock = ManualClock(EVENING)
        self.budget = 0.0
        self._open()
        job = JobRecord(JobId("j"), AgentName("api"), "Count.", 1.0)
        self.store.add_job(job)
        session = SessionRecord(SessionId("s"), AgentName("api"), job.id, 1, None, "api-1", 1.0)
        self.store.save_session(session)
        self.agent = self._agent(session)

    def _open(self) -> None:
        places = Places(self._home, self._home / "state", self._home / "run", self._home)
        places.make()
        self.parts = replace(dependencies(places), clock=self.clock)
        self.store: Store = self.parts.store
        self.sessions = sessions_alone(self.parts, lambda: [self.agent], budget=lambda: self.budget)

    def _agent(self, session: SessionRecord) -> Agent:
        settings = AgentSettings.model_validate({"name": "api", "directory": str(self._home)})
        record = AgentRecord(AgentName("api"), {}, None, True, str(self._home), session=session.id)
        runtime, job = self.parts.runtimes("claude"), self.store.job(session.job)
        agent = Agent(record, settings, runtime, job=job, session=session)
        agent.begin_session(None)
        return agent

    def restart(self) -> None:
        """Begin anew with what the database has; the CLI has not reported yet."""
        name = self.agent.record.session
        self.store.close()
        self._open()
        session = self.store.session(name or "")
        assert session is not None
        self.agent = self._agent(session)

    def reports(self, cost: float) -> None:
        """The CLI reports the cost of its session, and the supervisor looks at the agent."""
        self.agent.session_state.cost_usd = cost
        self.sessions.daily_costs.count(self.agent)

    def begins(self, ident: str, cli_id: str | None = None) -> None:
        """Another session begins in the agent."""
        self.sessions.save_counts(self.agent)
        held = self.agent.session
        assert held is not None
        session = replace(
            held,
            id=SessionId(ident),
            cli_id=SessionId(cli_id) if cli_id else None,
            number=held.number + 1,
            cost_usd=None,
        )
        self.store.save_session(session)
        self.agent = self._agent(session)

    def days(self) -> tuple[float, float]:
        return self.store.day_cost(TODAY), self.store.day_cost(TOMORROW)

    def crossed(self) -> list[str]:
        events = self.store.events(0, 100)
        return [event.text for event in events if event.kind == "budget.day_crossed"]


@pytest.fixture
def day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Day]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    found = Day(tmp_path)
    yield found
    found.store.close()
    monkeypatch.undo()
    time.tzset()


def test_what_a_session_costs_is_counted_once(day: Day) -> None:
    for cost in (0.5, 0.5, 2.0):
        day.reports(cost)
        day.sessions.save_counts(day.agent)
    assert day.days() == (2.0, 0.0)
    assert day.sessions.daily_costs.today == 2.0


def test_at_midnight_of_the_users_time_zone_a_new_day_begins(day: Day) -> None:
    day.reports(3.0)
    day.clock.advance(20 * 60)
    assert day.sessions.daily_costs.today == 0.0
    day.reports(3.0)
    day.reports(4.25)
    assert day.days() == (3.0, 1.25)


def test_after_a_restart_only_what_was_added_is_counted(day: Day) -> None:
    day.reports(3.0)
    day.restart()  # before the session's own cost was saved
    day.reports(3.0)
    day.sessions.save_counts(day.agent)
    day.restart()
    day.reports(3.5)
    assert day.days() == (3.5, 0.0)


def test_a_clock_that_goes_back_counts_nothing_twice(day: Day) -> None:
    day.reports(1.0)
    day.clock.advance(20 * 60)
    day.reports(2.0)
    day.clock.set_wall(EVENING)
    day.reports(2.0)
    day.reports(2.5)
    day.clock.set_wall(EVENING + timedelta(minutes=20))
    day.reports(2.5)
    assert day.days() == (1.5, 1.0)


@pytest.mark.parametrize("saved", [True, False])
def test_a_cost_that_falls_takes_nothing_back_and_is_not_counted_again(
    day: Day, saved: bool
) -> None:
    day.reports(5.0)
    if saved:
        day.sessions.save_counts(day.agent)
    day.restart()
    for cost in (0.0, 1.0, 5.0):  # reopened, as by an undo; its CLI counts from 0
        day.reports(cost)
        assert day.days() == (5.0, 0.0)
    day.reports(5.5)
    assert day.days() == (5.5, 0.0)


def test_the_session_after_a_clear_is_counted_from_zero(day: Day) -> None:
    day.reports(5.0)
    day.begins("second")
    day.reports(0.75)
    assert day.days() == (5.75, 0.0)


def test_a_session_that_another_agent_opened_before_is_not_counted_again(day: Day) -> None:
    day.reports(5.0)
    day.begins("second", cli_id="s")  # /resume of the first one
    day.reports(5.25)
    assert day.days() == (5.25, 0.0)


def test_the_id_that_a_cli_reports_late_changes_nothing(day: Day) -> None:
    day.reports(1.0)
    assert day.agent.session is not None
    day.agent.session = replace(day.agent.session, cli_id=SessionId("its-own"))
    day.reports(1.5)
    assert day.days() == (1.5, 0.0)


def test_copies_that_wrote_documents_are_part_of_the_day(day: Day) -> None:
    day.reports(1.0)
    day.agent.add_copy_cost("s", 0.25)
    day.sessions.daily_costs.count(day.agent)
    assert day.days() == (1.25, 0.0)


def test_what_a_session_cost_before_cockpit_opened_it_is_of_no_known_day(day: Day) -> None:
    day.store.latch(SessionId("s"), EARLIER_COST, 1.0)
    day.reports(40.0)
    assert day.days() == (0.0, 0.0)
    day.reports(40.5)
    assert day.days() == (0.5, 0.0)


def test_a_cost_of_a_rebuilt_record_is_of_no_known_day(day: Day) -> None:
    assert day.agent.session is not None
    day.agent.session = replace(day.agent.session, cost_usd=7.0)
    day.reports(7.5)
    assert day.days() == (0.5, 0.0)


def test_a_reached_budget_is_told_once_even_after_a_restart(day: Day) -> None:
    day.budget = 2.0
    day.reports(1.9)
    assert day.crossed() == []
    day.reports(2.1)
    day.reports(2.2)
    day.restart()
    day.reports(2.3)
    day.sessions.daily_costs.check()
    assert day.crossed() == [
        "All agents together cost $2.10 today; the daily budget is $2.00. The agents keep running"
    ]


@pytest.mark.anyio
async def test_listeners_get_the_day_and_each_change_of_a_cent(
    day: Day, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daily_costs, "PAUSE", 0.0)
    day.budget = 2.0
    day.reports(0.5)
    changes = day.sessions.daily_costs.follow()
    assert await anext(changes) == DaySpent(spent_today_usd=0.5, budget_today_usd=2.0)
    day.reports(0.501)
    day.reports(0.75)
    assert await anext(changes) == DaySpent(spent_today_usd=0.75, budget_today_usd=2.0)
    day.budget = 0.0
    day.reports(0.8)
    assert await anext(changes) == DaySpent()
    await changes.aclose()


def test_each_day_tells_once_also_when_the_clock_goes_back(day: Day) -> None:
    day.budget = 2.0
    day.reports(2.0)
    day.clock.advance(20 * 60)
    day.reports(3.9)
    assert len(day.crossed()) == 1
    day.reports(4.0)
    assert len(day.crossed()) == 2
    day.clock.set_wall(EVENING)
    day.reports(9.0)
    assert len(day.crossed()) == 2


def test_a_lowered_budget_tells_and_without_one_nothing_does(day: Day) -> None:
    day.reports(9.0)
    assert (day.crossed(), day.sessions.daily_costs.budget) == ([], None)
    day.budget = 5.0
    day.sessions.daily_costs.check()
    assert len(day.crossed()) == 1


def test_costs_from_before_the_upgrade_are_of_no_known_day(tmp_path: Path) -> None:
    path = tmp_path / "cockpit.db"
    before = next(n for n, each in enumerate(MIGRATIONS) if each.__name__.endswith("_day_costs"))
    with closing(sqlite3.connect(path)) as database:
        for migration in MIGRATIONS[:before]:
            migration(database)
        database.execute(f"pragma user_version = {before}")
        database.execute("insert into jobs values ('j', 'api', null, 1.0, null)")
        row = "insert into sessions(id, agent, job, number, run, created, permission_mode, state, "
        row += "cost_usd, cli_id) values (?, 'api', 'j', 1, 'r', 1.0, '', 'live', ?, ?)"
        for values in (("s", 5.0, None), ("t", 6.0, "s"), ("u", None, None)):
            database.execute(row, values)
        handoff = "insert into handoffs(id, agent, job, old_session, reason, created, boot, "
        handoff += "record, details) values (?, 'api', 'j', 's', 'you', 1.0, 'b', '{}', ?)"
        for number, details in enumerate(('{"writer_cost_usd": 2.5}', "{}", "damaged")):
            database.execute(handoff, (str(number), details))
        database.commit()
    store = Store(path).open()
    try:
        assert store.counted_cost("s") == 7.5
        assert store.counted_cost("u") is None
        assert store.day_cost(TODAY) == 0.0
    finally:
        store.close()
