"""The store: durable, whole or not at all, and never written over what it cannot read."""

from __future__ import annotations

import json
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from cockpit.adapters.store.migrations import MIGRATIONS
from cockpit.adapters.store.store import KEPT_EVENTS, Store
from cockpit.core.errors import Failed, OsProblem
from cockpit.core.handoff.details import HandoffDetails
from cockpit.core.ids import AgentName, HandoffId, JobId, SessionId
from cockpit.ports.records import AgentRecord, HandoffRecord, JobRecord, SessionRecord

API = AgentName("api")
SEAT = AgentRecord(API, {"mode": "auto", "env": {"A": "'; drop table seats;--"}}, None, True, "/w")
JOB = JobRecord(JobId("j"), API, "Count $(the) `steps`;\x00 👩", 1.0)
SESSION = SessionRecord(SessionId("s"), API, JOB.id, 1, None, "api-1", 2.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cockpit.db"


@pytest.fixture
def opened(path: Path) -> Iterator[Callable[[], Store]]:
    """Opens the store at the path; each is closed at the end of the test."""
    stores: list[Store] = []

    def open_store() -> Store:
        stores.append(Store(path).open())
        return stores[-1]

    yield open_store
    for store in stores:
        store.close()


def test_what_was_written_is_there_for_the_next_one(opened: Callable[[], Store]) -> None:
    store = opened()
    store.save_agent(SEAT)
    store.add_job(JOB)
    chosen = replace(SESSION, chosen_modes={"gemini": "plan", "codex": "acceptEdits"})
    store.save_session(chosen)
    store.close()
    again = opened()
    assert list(again.chain(JOB.id)[0].chosen_modes) == ["gemini", "codex"]
    assert again.agents() == [SEAT]
    assert again.job(JOB.id) == JOB
    assert again.chain(JOB.id) == [chosen]
    assert again.put_aside is None


@pytest.mark.parametrize(
    ("outcome", "counted"),
    [("done", 1), ("revived", 1), ("refused", 0), ("cancelled", 0), ("failed", 0), (None, 0)],
)
def test_what_ended_a_session_counts_for_the_breaker(
    opened: Callable[[], Store], outcome: str | None, counted: int
) -> None:
    store = opened()
    kept = HandoffRecord(
        HandoffId("h"), API, JOB.id, SESSION.id, "threshold", 1.0, "b", {},
        HandoffDetails(closed=5.0),
        ended=5.0, outcome=outcome,
    )  # fmt: skip
    store.add_job(JOB)
    store.save_session(SESSION)
    store.save_handoff(kept)
    assert store.swaps(API, 4.0) == counted
    assert store.swaps(API, 6.0) == store.swaps(API, 4.0, but="threshold") == 0


def test_the_file_is_the_pilots_alone(opened: Callable[[], Store], path: Path) -> None:
    path.touch(mode=0o644)
    opened()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_transaction_is_whole_or_nothing(opened: Callable[[], Store]) -> None:
    store = opened()

    def broken_off() -> None:
        with store.transaction():
            store.save_agent(SEAT)
            with store.transaction():
                store.add_job(JOB)
            raise KeyError

    with pytest.raises(KeyError):
        broken_off()
    assert (store.agents(), store.job(JOB.id)) == ([], None)
    with store.transaction():
        store.save_agent(SEAT)
    assert store.agents() == [SEAT]


def test_what_is_not_committed_nobody_sees(opened: Callable[[], Store], path: Path) -> None:
    store = opened()
    with store.transaction():
        store.save_agent(SEAT)
        with closing(sqlite3.connect(path)) as other:
            assert other.execute("select count(*) from seats").fetchone() == (0,)


@pytest.mark.parametrize("content", [b"no database " * 1000, b"SQLite format 3\0" + b"\xff" * 9000])
def test_a_file_that_cannot_be_read_is_put_aside(
    opened: Callable[[], Store], path: Path, content: bytes
) -> None:
    path.write_bytes(content)
    store = opened()
    assert store.put_aside is not None
    assert store.put_aside.read_bytes() == content
    assert store.agents() == []
    store.save_agent(SEAT)
    assert store.agents() == [SEAT]


def test_a_truncated_file_is_put_aside_and_a_second_one_beside_it(
    opened: Callable[[], Store], path: Path
) -> None:
    asides = set()
    for _ in range(2):
        store = opened()
        for number in range(200):
            store.add_event(1.0, None, "kind", f"text {number} {'x' * 200}", {})
        store.close()
        path.write_bytes(path.read_bytes()[:9000])
        broken = opened()
        asides.add(broken.put_aside)
        broken.close()
    assert None not in asides
    assert len(asides) == 2


def test_an_empty_file_is_a_new_one(opened: Callable[[], Store], path: Path) -> None:
    path.touch()
    assert opened().put_aside is None


def test_a_newer_shape_is_refused_and_left_as_it_is(
    opened: Callable[[], Store], path: Path
) -> None:
    opened().close()
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"pragma user_version = {len(MIGRATIONS) + 1}")
    with pytest.raises(Failed, match="newer cockpit"):
        opened()
    assert [each.name for each in path.parent.glob("*unreadable*")] == []


@pytest.mark.parametrize("steps", range(1, len(MIGRATIONS)))
def test_a_file_of_an_older_release_is_brought_forward_with_all_that_it_holds(
    opened: Callable[[], Store], path: Path, steps: int
) -> None:
    with closing(sqlite3.connect(path)) as old:
        for migration in MIGRATIONS[:steps]:
            migration(old)
        old.execute(f"pragma user_version = {steps}")
        old.execute("insert into jobs(id, agent, created) values ('j', 'api', 1.0)")
        old.execute(
            "insert into sessions(id, agent, job, number, run, created, permission_mode, state) "
            "values ('s', 'api', 'j', 1, 'api-1', 2.0, '', 'live')"
        )
        old.execute("insert into seats(name, settings, wanted, directory) values ('api','{}',1,'')")
        old.commit()
    store = opened()
    assert store.put_aside is None
    assert store.chain(JobId("j")) == [SESSION]
    (agent,) = store.agents()
    assert (agent.name, agent.wanted, agent.ending) == ("api", True, None)
    store.save_agent(SEAT)
    store.save_session(replace(SESSION, ended=3.0))
    assert store.session("s") == replace(SESSION, ended=3.0)


@pytest.mark.parametrize("before", [None, "h2"])
@pytest.mark.parametrize("agent", [None, "api"])
def test_a_page_of_handoffs_is_read_in_order_from_an_index(
    opened: Callable[[], Store], path: Path, agent: str | None, before: str | None
) -> None:
    """Nothing is sorted: a page costs what it shows and not what the table holds."""
    store = opened()
    store.add_job(JOB)
    for number in range(4):
        made = HandoffRecord(
            HandoffId(f"h{number}"),
            API,
            JOB.id,
            SESSION.id,
            "manual",
            1.0 + number // 2,
            "b",
            {},
            HandoffDetails(),
        )
        store.save_handoff(made)
    asked: list[str] = []
    store._database.set_trace_callback(asked.append)
    found = [each.id for each in store.newest_handoffs(agent, 2, before)]
    store._database.set_trace_callback(None)
    assert found == (["h1", "h0"] if before else ["h3", "h2"])
    with closing(sqlite3.connect(path)) as database:
        plan = [row[3] for row in database.execute(f"explain query plan {asked[0]}")]
    assert plan[0].startswith("SEARCH" if before else "SCAN")
    assert "USING INDEX handoffs_by_time" in plan[0]
    assert not [step for step in plan if "B-TREE" in step]


def test_prompts_of_an_older_release_lose_their_secrets(
    opened: Callable[[], Store], path: Path
) -> None:
    secret = "Tr0ub4dor" + "&3-xK9p$%"
    prompt = f"Log in with DB_PASSWORD={secret} first."
    with closing(sqlite3.connect(path)) as old:
        for migration in MIGRATIONS[:11]:
            migration(old)
        old.execute("pragma user_version = 11")
        old.execute(
            "insert into jobs(id, agent, prompt, created) values ('j','api',?,1.0)", [prompt]
        )
        held = json.dumps({"name": "api", "prompt": prompt})
        old.execute(
            "insert into seats(name,settings,wanted,directory) values ('api',?,1,'')", [held]
        )
        old.execute("insert into jobs(id, agent, prompt, created) values ('k','api','Plain.',1.0)")
        old.commit()
    store = opened()
    job, agent = store.job(JobId("j")), store.agents()[0]
    assert job is not None
    assert str(job.prompt).startswith("Log in with DB_PASSWORD=[REDACTED:")
    assert agent.settings == {"name": "api", "prompt": job.prompt}
    assert [each.prompt for each in store.jobs()] == [job.prompt, "Plain."]
    store.close()
    assert secret.encode() not in path.read_bytes()


def test_a_compaction_that_an_older_release_knew_by_its_text_is_marked(
    opened: Callable[[], Store], path: Path
) -> None:
    why = "the context was compacted"
    waiting = {"plan": {}, "state": {"is": "Asked", "why": why}}
    ended = {"plan": {}, "state": {"is": "Ended", "outcome": "cancelled", "why": why}}
    rows = [
        ("h1", waiting, 9.0, why), ("h2", waiting, 9.0, "refused by you"),
        ("h3", ended, None, None), ("h4", waiting, None, None),
    ]  # fmt: skip
    with closing(sqlite3.connect(path)) as old:
        for migration in MIGRATIONS[:12]:
            migration(old)
        old.execute("pragma user_version = 12")
        old.execute("insert into jobs(id, agent, created) values ('j','api',1.0)")
        for number, (ident, record, at, said) in enumerate(rows):
            old.execute(
                "insert into handoffs(id, agent, job, old_session, reason, created, boot, record, "
                "details, ended, why) values (?,'api','j',?,'threshold',?,'b',?,'{}',?,?)",
                (ident, f"s-{ident}", float(number), json.dumps(record), at, said),
            )
        old.execute(
            "insert into handoffs select 'h5',agent,job,'s-h5',reason,9.0,boot,'{',"
            "'{',ended,outcome,why,new_session,document,copy,sha256,writer from handoffs "
            "where id = 'h1'"
        )
        old.commit()
    store = opened()
    found = {each.id: each for each in store.newest_handoffs("api", 9, None)}
    assert {ident: each.details.compacted for ident, each in found.items()} == {
        "h1": True, "h2": False, "h3": False, "h4": False,
    }  # fmt: skip
    assert {ident: each.record["state"].get("compacted") for ident, each in found.items()} == {
        "h1": None, "h2": None, "h3": True, "h4": None,
    }  # fmt: skip


def test_a_link_is_not_followed(opened: Callable[[], Store], path: Path) -> None:
    (path.parent / "elsewhere").touch()
    path.symlink_to(path.parent / "elsewhere")
    with pytest.raises(Failed, match="symbolic link"):
        opened()


def test_a_latch_is_set_once_even_across_restarts(opened: Callable[[], Store]) -> None:
    store = opened()
    assert store.latch(SESSION.id, "band.act", 5.0)
    assert not store.latch(SESSION.id, "band.act", 6.0)
    store.close()
    again = opened()
    assert not again.latch(SESSION.id, "band.act", 7.0)
    assert again.latched(SESSION.id, "band.act") == 5.0
    assert again.latched(SessionId("other"), "band.act") is None
    again.unlatch(SESSION.id, "band.act", "never set")
    assert again.latch(SESSION.id, "band.act", 8.0)


def test_events_are_numbered_in_order_and_the_oldest_go(opened: Callable[[], Store]) -> None:
    store = opened()
    first, second = (store.add_event(1.0, "api", "kind", "text", {"n": n}) for n in (1, 2))
    assert second.id == first.id + 1
    assert store.events(0, 1) == [second]
    assert store.events(first.id, 10) == [second]
    assert store.events(second.id, 10) == []
    with store.transaction():
        for _ in range(KEPT_EVENTS + 1000):
            store.add_event(1.0, None, "kind", "text", {})
    assert len(store.events(1, 10 * KEPT_EVENTS)) <= KEPT_EVENTS + 1000


def test_foreign_text_is_only_ever_a_value(opened: Callable[[], Store]) -> None:
    store = opened()
    store.save_agent(SEAT)
    store.forget_agent(AgentName("' or 1=1 --"))
    assert store.agents() == [SEAT]
    store.forget_agent(API)
    assert store.agents() == []


def grow_to(store: Store, pages: int) -> None:
    """A database that may have no more pages than this is a full disk."""
    store._database.execute(f"pragma max_page_count = {pages}")


def test_a_full_disk_is_told_takes_nothing_half_and_ends_with_the_fullness(
    opened: Callable[[], Store],
) -> None:
    store = opened()
    store.save_agent(SEAT)
    grow_to(store, 1)

    def write_both() -> None:
        with store.transaction():
            store.add_job(JOB)
            store.add_event(1.0, "api", "kind", "a long text " * 1000, {})

    with pytest.raises(OsProblem, match="Cannot write"):
        write_both()
    assert store.job(JOB.id) is None
    grow_to(store, 1_000_000)
    store.add_job(JOB)
    store.close()
    assert opened().job(JOB.id) == JOB


def test_a_transaction_that_cannot_be_committed_leaves_none_open(
    opened: Callable[[], Store],
) -> None:
    store = opened()

    def end_badly() -> None:
        with store.transaction():
            store._database.execute("pragma defer_foreign_keys = on")
            store.save_session(SESSION)  # of a job that is not there

    with pytest.raises(sqlite3.IntegrityError):
        end_badly()
    assert store.session(SESSION.id) is None
    with store.transaction():
        store.add_job(JOB)
    store.close()
    assert opened().job(JOB.id) == JOB


def test_a_statement_that_makes_no_sense_is_not_taken_for_a_full_disk(
    opened: Callable[[], Store],
) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        opened().run("delete from nowhere")
