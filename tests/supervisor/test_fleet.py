"""Seats that come back: what an earlier supervisor left for the pilot to decide is still theirs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cockpit.config.paths import Places
from cockpit.core.errors import NotNow
from cockpit.core.ids import AgentName, HandoffId, JobId, SessionId
from cockpit.ports.records import HandoffRecord, JobRecord, SeatRecord
from cockpit.supervisor.fleet import Fleet
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.main import instruments

API, JOB = AgentName("api"), JobId("j")


@pytest.fixture
def parts(own_home: Path) -> Iterator[Instruments]:
    """The real world, with one job of one agent whose only handoff has failed."""
    places = Places.of(os.environ)
    places.make()
    parts = instruments(places)
    settings = {"name": "api", "directory": str(own_home)}
    parts.store.add_job(JobRecord(JOB, API, "Count.", 1.0))
    parts.store.save_seat(SeatRecord(API, settings, None, True, str(own_home), job=JOB))
    failed = HandoffRecord(HandoffId("h"), API, JOB, SessionId("s"), "manual", 2.0, "boot", {}, {})
    parts.store.save_handoff(replace(failed, ended=3.0, outcome="failed", why="it hangs"))
    yield parts
    parts.store.close()


def remembered(parts: Instruments) -> str | None:
    fleet = Fleet(parts)
    fleet.remember()
    return fleet.seat("api").handoff_failed


def test_a_handoff_that_failed_still_needs_the_pilot_after_a_restart(parts: Instruments) -> None:
    assert remembered(parts) == "the handoff failed: it hangs"


def test_a_seat_that_the_pilot_has_stopped_needs_nobody(parts: Instruments) -> None:
    (seat,) = parts.store.seats()
    parts.store.save_seat(replace(seat, wanted=False))
    assert remembered(parts) is None


def test_what_came_after_the_failure_counts(parts: Instruments) -> None:
    (failed,) = parts.store.handoffs(JOB)
    later = replace(failed, id=HandoffId("h2"), created=4.0, ended=5.0, outcome="done")
    parts.store.save_handoff(later)
    assert remembered(parts) is None


def test_the_same_file_by_another_name_is_no_other_file(parts: Instruments, own_home: Path) -> None:
    file = own_home / "cockpit.toml"
    file.write_text(f'[[agents]]\nname = "web"\ndirectory = "{own_home}"\n')
    (own_home / "inner").mkdir()
    fleet = Fleet(parts)
    fleet.load(file, named=True)
    parts.store.save_seat(fleet.seat("web").change(session=SessionId("s")))
    fleet.load(own_home / "inner" / ".." / "cockpit.toml", named=True)
    (own_home / "other.toml").write_text(file.read_text())
    with pytest.raises(NotNow):
        fleet.load(own_home / "other.toml", named=True)
