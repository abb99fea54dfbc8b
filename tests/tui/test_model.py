"""What the screens know, and how it is kept current."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import cast

from cockpit.client.memory import MemoryClient
from cockpit.tui.follow import follow
from cockpit.tui.model import Change, Model
from cockpit.tui.scene import agent
from cockpit.wire.status import Status
from cockpit.wire.stream import AgentChanged, AgentForgotten, Event, Snapshot, WatchLine


def heard(model: Model) -> list[tuple[Change, str | None]]:
    changes: list[tuple[Change, str | None]] = []
    model.listen(lambda change, name: changes.append((change, name)))
    return changes


def test_a_listener_is_told_what_changed() -> None:
    model = Model()
    changes = heard(model)
    model.main.take(Snapshot(status=Status(agents=[agent("api")])), 1.0)
    model.main.take(AgentChanged(agent=agent("api", "idle")), 2.0)
    model.main.take(AgentChanged(agent=agent("web")), 3.0)
    model.main.take(AgentForgotten(name="web"), 4.0)
    model.select("api")
    model.select("api")
    model.main.answered()
    model.main.answered()
    assert changes == [
        (Change.FLEET, None), (Change.AGENT, "api"), (Change.FLEET, "web"), (Change.FLEET, None),
        (Change.SELECTION, "api"), (Change.CONNECTION, None),
    ]  # fmt: skip
    assert model.heard_at == {"api": 2.0}


def test_a_selection_survives_its_agent_going_and_coming_back() -> None:
    model = Model(selected="api")
    model.main.take(Snapshot(status=Status()), 1.0)
    assert model.agent is None
    model.main.take(AgentChanged(agent=agent("api")), 2.0)
    assert model.agent is not None
    assert model.selected == "api"


def test_the_first_loss_keeps_its_time() -> None:
    model = Model()
    model.main.answered()
    model.main.lost(10.0, "gone", 10.25)
    model.main.lost(20.0, "gone", 21.0)
    assert model.connection.lost_at == 10.0
    model.main.answered()
    model.main.lost(30.0, "gone", 30.25)
    assert model.connection.lost_at == 30.0


def test_an_event_is_kept_once() -> None:
    model = Model()
    events = [Event(id=number, at="", kind="x", text="") for number in (1, 2, 3)]
    model.main.remember(events[:2])
    model.main.remember(events)
    assert [event.id for event in model.events] == [1, 2, 3]


async def reached(true: object, model: Model, client: MemoryClient) -> None:
    """Follow until the condition holds, ten seconds at most."""
    following = asyncio.create_task(follow(client, model.main))
    try:
        async with asyncio.timeout(10):
            while not true():  # type: ignore[operator]
                await asyncio.sleep(0.01)
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


def test_another_supervisor_counts_its_events_from_the_beginning() -> None:
    async def play() -> None:
        model = Model()
        model.main.remember([Event(id=900, at="", kind="x", text="of the last one")])
        client = MemoryClient()
        client.happen("x.happened", "of this one")
        await reached(lambda: [event.id for event in model.events] == [1], model, client)

    asyncio.run(play())


def test_a_supervisor_of_another_version_is_said_and_asked_again() -> None:
    class Strange(MemoryClient):
        async def watch(self) -> AsyncIterator[WatchLine]:
            Snapshot.model_validate({"type": "snapshot", "status": {"version": 9}})
            yield cast("WatchLine", None)

    async def play() -> None:
        model = Model()
        await reached(lambda: "another version" in model.connection.why, model, Strange())

    asyncio.run(play())
