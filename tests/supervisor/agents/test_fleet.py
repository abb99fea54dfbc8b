"""Seats that come back: what an earlier supervisor left for the user to decide is still theirs."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cockpit.config.paths import Places
from cockpit.config.schema import AgentSettings
from cockpit.core.errors import BadConfig, NotNow
from cockpit.core.handoff.details import HandoffDetails
from cockpit.core.ids import AgentName, HandoffId, JobId, SessionId
from cockpit.ports.records import AgentRecord, HandoffRecord, JobRecord
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.main import dependencies

API, JOB = AgentName("api"), JobId("j")


@pytest.fixture
def parts(own_home: Path) -> Iterator[Dependencies]:
    """The real world, with one job of one agent whose only handoff has failed."""
    places = Places.of(os.environ)
    places.make()
    parts = dependencies(places)
    settings = {"name": "api", "directory": str(own_home)}
    parts.store.add_job(JobRecord(JOB, API, "Count.", 1.0))
    parts.store.save_agent(AgentRecord(API, settings, None, True, str(own_home), job=JOB))
    failed = HandoffRecord(
        HandoffId("h"), API, JOB, SessionId("s"), "manual", 2.0, "boot", {}, HandoffDetails()
    )
    parts.store.save_handoff(replace(failed, ended=3.0, outcome="failed", why="it hangs"))
    yield parts
    parts.store.close()


def remembered(parts: Dependencies) -> str | None:
    fleet = Fleet(parts)
    fleet.remember()
    return fleet.agent("api").progress.failed


def test_a_handoff_that_failed_still_needs_the_pilot_after_a_restart(parts: Dependencies) -> None:
    assert remembered(parts) == "the handoff failed: it hangs"


def test_a_seat_that_the_pilot_has_stopped_needs_nobody(parts: Dependencies) -> None:
    (agent,) = parts.store.agents()
    parts.store.save_agent(replace(agent, wanted=False))
    assert remembered(parts) is None


def test_what_came_after_the_failure_counts(parts: Dependencies) -> None:
    (failed,) = parts.store.handoffs(JOB)
    later = replace(failed, id=HandoffId("h2"), created=4.0, ended=5.0, outcome="done")
    parts.store.save_handoff(later)
    assert remembered(parts) is None


def test_the_same_file_by_another_name_is_no_other_file(
    parts: Dependencies, own_home: Path
) -> None:
    file = own_home / "cockpit.toml"
    file.write_text(f'[[agents]]\nname = "web"\ndirectory = "{own_home}"\n')
    (own_home / "inner").mkdir()
    fleet = Fleet(parts)
    fleet.load(file, named=True)
    parts.store.save_agent(fleet.agent("web").change(session=SessionId("s")))
    fleet.load(own_home / "inner" / ".." / "cockpit.toml", named=True)
    (own_home / "other.toml").write_text(file.read_text())
    with pytest.raises(NotNow):
        fleet.load(own_home / "other.toml", named=True)


def test_what_a_full_disk_left_of_a_forgotten_agent_is_removed_by_the_next_supervisor(
    parts: Dependencies, own_home: Path
) -> None:
    hooks = {"on_error": [{"type": "shell", "command": ("true",)}]}
    settings = AgentSettings.model_validate(
        {"name": "web", "directory": own_home, "env": {"A": "b"}, "hooks": hooks}
    )
    fleet = Fleet(parts)
    agent = fleet.take_up(settings, None)
    left = [parts.places.state / folder / "web.json" for folder in ("environments", "agent-hooks")]
    assert all(file.is_file() for file in left)
    parts.store.run("pragma query_only = on")
    fleet.forget(agent)
    parts.store.run("pragma query_only = off")
    assert AgentName("web") in [record.name for record in parts.store.agents()]
    again = Fleet(parts)
    again.remember()
    assert again.find("web") is None
    assert AgentName("web") not in [record.name for record in parts.store.agents()]
    assert not any(file.exists() for file in left)


async def test_a_file_is_read_beside_the_event_loop(parts: Dependencies, own_home: Path) -> None:
    file = own_home / "cockpit.toml"
    file.write_text(f'[[agents]]\nname = "web"\ndirectory = "{own_home}"\n')
    fleet = Fleet(parts)

    reading = asyncio.create_task(fleet.reload(file, named=True))
    again = asyncio.create_task(fleet.reload(file, named=True))
    await asyncio.sleep(0)
    # The loop was free before the first read was taken up.
    assert fleet.loaded is None
    await asyncio.gather(reading, again)
    assert fleet.find("web") is not None
    file.write_text("x = " + "[" * 5000)
    with pytest.raises(BadConfig, match="nested too deeply"):
        await fleet.reload(file, named=True)
    assert fleet.find("web") is not None
