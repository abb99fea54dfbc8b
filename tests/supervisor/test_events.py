"""Events: written down before they are told, safe to show, and never waiting for a listener."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cockpit.adapters.clock import SystemClock
from cockpit.adapters.store.store import Store
from cockpit.core.events import AgentStarted, AgentStopped, Plain, Unknown
from cockpit.core.ids import AgentName
from cockpit.core.timestamps import rfc3339
from cockpit.supervisor.events import BACKLOG, EventLog, Listener

STARTED, STOPPED = AgentStarted(None, "/w", None), AgentStopped(told=False)
FOUND = Plain("agent.found")


@pytest.fixture
def event_log(tmp_path: Path) -> Iterator[EventLog]:
    store = Store(tmp_path / "cockpit.db").open()
    yield EventLog(store, SystemClock())
    store.close()


async def all_of(listener: Listener) -> list[Any]:
    return [line async for line in listener.lines()]


async def test_an_event_is_numbered_kept_and_told(event_log: EventLog) -> None:
    listener = event_log.listen()
    first = event_log.record(STARTED, "api started", "api")
    second = event_log.record(STOPPED, "api was stopped", "api")
    assert second.id == first.id + 1
    assert event_log.since(first.id, 10) == [second]
    assert first.data == {"session": None, "directory": "/w", "branch": None}
    event_log.close()
    assert await all_of(listener) == [first, second]


def test_foreign_text_holds_no_control_bytes(event_log: EventLog) -> None:
    told = event_log.record(FOUND, "gone\x1b]0;owned\x07\nand more", "api")
    assert told.text.isprintable()


async def test_one_who_left_hears_nothing_more(event_log: EventLog) -> None:
    listener = event_log.listen()
    event_log.leave(listener)
    event_log.leave(listener)
    event_log.record(FOUND, "text")
    listener.close()
    assert await all_of(listener) == []


async def test_one_who_falls_behind_is_cut_off_and_holds_nobody_up() -> None:
    listener = Listener()
    for number in range(BACKLOG + 50):
        listener.send(number)
    heard = await all_of(listener)
    assert len(heard) < BACKLOG
    assert heard == list(range(1, len(heard) + 1))


def test_times_are_utc_to_the_second() -> None:
    assert rfc3339(0.9) == "1970-01-01T00:00:00Z"


async def test_a_disk_that_refuses_holds_nothing_up(tmp_path: Path) -> None:
    store = Store(tmp_path / "cockpit.db").open()
    event_log = EventLog(store, SystemClock())
    listener = event_log.listen()
    store._database.execute("pragma max_page_count = 1")
    event_log.record(AgentStarted(None, "x" * 10_000, None), "a long text " * 1000, "api")
    store._database.execute("pragma max_page_count = 1000000")
    after = event_log.record(STOPPED, "api was stopped", "api")
    event_log.close()
    assert await all_of(listener) == [after]
    assert event_log.since(0, 10) == [after]
    store.close()


def test_events_of_other_versions_are_shown_as_they_were_stored(event_log: EventLog) -> None:
    stored: dict[str, dict[str, Any]] = {
        "agent.levitated": {"height": 3},
        "agent.started": {"session": "s", "mood": "good"},
    }
    for kind, data in stored.items():
        event_log._store.add_event(0.0, AgentName("api"), kind, f"api: {kind}", data)
    found = event_log.since(0, 10)
    assert {event.kind: event.data for event in found} == stored
    typed = [record.event for record in event_log._store.events(0, 10)]
    assert typed == [Unknown("agent.levitated", {"height": 3}), AgentStarted("s", "", None)]
