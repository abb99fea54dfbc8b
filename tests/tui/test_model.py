"""What the screens know, and how it is kept current."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import cast

from cockpit.tui.state.follow import follow
from cockpit.tui.state.model import Change, Model
from cockpit.wire.status import HeldSetting, Status
from cockpit.wire.stream import (
    AgentChanged,
    AgentForgotten,
    Event,
    Happened,
    Snapshot,
    WatchLine,
)
from tests.client.memory import MemoryClient
from tests.tui.scene import agent


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
    assert model.received_at == {"api": 2.0}


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
    model.main.lost(10.0, "gone")
    model.main.lost(20.0, "gone")
    assert model.connection.lost_at == 10.0
    model.main.answered()
    model.main.lost(30.0, "gone")
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
        async with asyncio.timeout(120):
            while not true():  # type: ignore[operator]
                await asyncio.sleep(0.01)
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


async def test_another_supervisor_counts_its_events_from_the_beginning() -> None:
    model = Model()
    model.main.remember([Event(id=900, at="", kind="x", text="of the last one")])
    client = MemoryClient()
    client.happen("x.happened", "of this one")
    await reached(lambda: [event.id for event in model.events] == [1], model, client)


async def test_after_an_interruption_only_what_was_missed_is_asked_for() -> None:
    asked: list[int] = []

    class Asked(MemoryClient):
        async def events(self, *, after: int = 0, limit: int = 200) -> list[Event]:
            asked.append(after)
            return await super().events(after=after, limit=limit)

    model, client = Model(), Asked(Status(agents=[agent("api"), agent("web"), agent("old")]))
    client.happen("x.happened", "before")
    await reached(lambda: len(model.events) == 1, model, client)
    received = model.received_at["web"]
    client.change("api", state="idle")
    client.forget("old")
    client.happen("x.happened", "meanwhile")

    await reached(lambda: len(model.events) == 2, model, client)

    assert asked == [0, 1]
    assert list(model.agents) == ["api", "web"]
    assert model.agents["api"].state == "idle"
    assert model.received_at["web"] == received
    assert model.connection.live


async def test_a_supervisor_of_another_version_is_said_and_asked_again() -> None:
    class Strange(MemoryClient):
        async def watch(
            self, *, elsewhere: bool = False, day: bool = False, since: str | None = None
        ) -> AsyncIterator[WatchLine]:
            Snapshot.model_validate({"type": "snapshot", "status": {"version": 9}})
            yield cast("WatchLine", None)

    model = Model()
    await reached(lambda: "another version" in model.connection.why, model, Strange())


def joined() -> Model:
    model = Model(others=["build", "gpu1"])
    for host, part in model.parts.items():
        name = "api" if host == "local" else f"{host}/api"
        part.take(Snapshot(status=Status(host=host, agents=[agent(name)])), 1.0)
        part.answered()
    return model


def test_a_host_that_is_lost_keeps_its_agents_and_the_others_go_on() -> None:
    model = joined()
    gpu1 = model.parts["gpu1"]
    gpu1.lost(5.0, "gone")
    model.parts["build"].take(AgentChanged(agent=agent("build/api", "idle")), 7.0)
    assert list(model.agents) == ["api", "build/api", "gpu1/api"]
    assert [name for name in model.agents if model.is_lost(name)] == ["gpu1/api"]
    assert model.received_at == {"api": 1.0, "build/api": 7.0, "gpu1/api": 1.0}
    assert model.lost == [gpu1]
    assert model.any_live

    gpu1.take(Snapshot(status=Status(agents=[agent("gpu1/web")])), 9.0)
    gpu1.answered()
    assert list(model.agents) == ["api", "build/api", "gpu1/web"]
    assert model.lost == []


def test_rows_stand_by_host_whoever_answers_first() -> None:
    model = Model(others=["gpu1"])
    model.parts["gpu1"].take(Snapshot(status=Status(agents=[agent("gpu1/api")])), 1.0)
    model.main.take(Snapshot(status=Status(agents=[agent("web"), agent("api")])), 2.0)
    assert list(model.agents) == ["web", "api", "gpu1/api"]


def test_what_happened_is_merged_by_time_and_what_happens_is_the_newest() -> None:
    def event(number: int, at: str, who: str = "api") -> Event:
        return Event(id=number, at=at, agent=who, kind="x", text=f"{who} {number}")

    model = joined()
    model.main.remember([event(1, "10:00"), event(2, "10:02")])
    model.parts["gpu1"].remember([event(1, "10:01", "gpu1/api"), event(2, "10:03", "gpu1/api")])
    told = [one.text for one in model.events]
    assert told == ["api 1", "gpu1/api 1", "api 2", "gpu1/api 2"]
    changes = heard(model)
    model.parts["gpu1"].take(Happened(event=event(3, "09:00", "gpu1/api")), 3.0)
    assert model.events[-1].text == "gpu1/api 3", "its clock is behind, and yet it is news"
    assert changes == [(Change.EVENT, None), (Change.HAPPENED, None)]
    model.parts["gpu1"].forget_events()
    assert [one.text for one in model.events] == ["api 1", "api 2"]
    assert (model.main.last_event, model.parts["gpu1"].last_event) == (2, 0)


def test_what_is_held_is_kept_of_a_host_that_cannot_be_asked() -> None:
    def one(host: str | None) -> HeldSetting:
        return HeldSetting(file="/c.toml", line=1, key="hosts[0]", reason="it runs", host=host)

    model = joined()
    model.hold([one(None), one("gpu1")])
    model.parts["gpu1"].lost(1.0, "gone")
    model.hold([one("build")])
    assert [each.host for each in model.held] == ["build", "gpu1"]
    model.hold([one(None)])
    model.hold([], without={"local", "gpu1"})
    assert [each.host for each in model.held] == [None, "gpu1"]
