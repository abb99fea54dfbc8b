"""The outbox's table: durable, bounded, in order, and part of the event's own transaction."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cockpit.adapters.store.outgoing import MOST, OutgoingTable
from cockpit.adapters.store.store import Store
from cockpit.core.errors import OsProblem
from cockpit.core.events import Plain
from cockpit.core.ids import AgentName
from cockpit.ports.records import EventRecord, OutgoingRecord
from cockpit.supervisor.events import EventLog
from tests.manual_clock import ManualClock


def message(number: int, **changes: object) -> OutgoingRecord:
    made = OutgoingRecord(
        f"m{number}", float(number), AgentName("api"), "webhook", {"url": "u"}, {"n": number}, 0.0
    )
    return replace(made, **changes)  # type: ignore[arg-type]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cockpit.db"


def test_it_survives_and_keeps_order_and_time(path: Path) -> None:
    store = Store(path).open()
    table = OutgoingTable(store)
    for number in (2, 1):
        assert table.add(message(number)) == 0
    table.add(message(1))  # twice is as once
    table.add(message(3, next_at=50.0))
    store.close()

    store = Store(path).open()
    table = OutgoingTable(store)
    assert table.due(10.0) == [message(1), message(2)]
    assert table.next_after(10.0) == 50.0
    table.put_off(message(1), 2, 99.0)
    table.remove(message(2))
    assert table.due(60.0) == [message(3, next_at=50.0)]
    assert table.all_of("webhook")[0] == message(1, attempts=2, next_at=99.0)
    assert table.next_after(99.0) is None
    store.close()


def test_the_oldest_gives_way(path: Path) -> None:
    store = Store(path).open()
    table = OutgoingTable(store)
    with store.transaction():
        for number in range(MOST):
            table.add(message(number))
    assert table.add(message(MOST)) == 1
    found = table.all_of("webhook")
    assert len(found) == MOST
    assert found[0] == message(1)
    store.close()


def test_an_event_and_its_messages_stand_or_fall_together(path: Path) -> None:
    store = Store(path).open()
    table = OutgoingTable(store)
    event_log = EventLog(store, ManualClock())

    def lay_in(record: EventRecord) -> None:
        table.add(message(record.id))
        if record.kind == "agent.warned":
            raise OsProblem("the disk is full")

    event_log.also = lay_in
    event_log.record(Plain("agent.found"), "g")
    event_log.record(Plain("agent.warned"), "b")
    assert [event.kind for event in store.events(0, 10)] == ["agent.found"]
    assert [one.id for one in table.all_of("webhook")] == ["m1"]
    store.close()
