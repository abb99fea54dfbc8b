"""A line of the feed says who once: what stands beside a sentence is not in it again."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from cockpit.wire.status import Status
from tests.client.memory import MemoryClient
from tests.tui.scene import agent


class Fly(Protocol):
    def __call__(self, client: MemoryClient, **how: Any) -> AbstractAsyncContextManager[Any]: ...


def told() -> MemoryClient:
    client = MemoryClient(Status(agents=[agent("api"), agent("gpu1/train")]))
    client.happen("agent.started", "api was started", "api")
    client.happen("agent.started", "gpu1: train was started", "gpu1/train")
    client.happen("supervisor.started", "gpu1: the supervisor was started", None)
    client.happen("agent.note", "apian bees left api alone", "api")
    return client


async def test_neither_the_host_nor_the_agent_is_said_twice(fly: Fly) -> None:
    async with fly(told()) as flight:
        await flight.press("e")
        await flight.reads(
            "api         was started",
            "gpu1/train  was started",
            "            gpu1: the supervisor was started",
            "api         apian bees left api alone",
        )


async def test_a_long_event_ends_with_an_ellipsis(fly: Fly) -> None:
    client = MemoryClient(Status(agents=[agent("api")]))
    client.happen("worktree.created", f"The worktree was created: {'/folder' * 20}/api", "api")
    async with fly(client, size=(80, 24)) as flight:
        await flight.press("e")
        await flight.until(
            lambda: any(
                "was created: /folder" in line and "…" in line
                for line in flight.text().splitlines()
            ),
            "an ellipsis",
        )


async def test_on_the_screen_of_one_agent_nobody_is_named(fly: Fly) -> None:
    async with fly(told(), selected="api") as flight:
        await flight.press("o", "5")
        await flight.reads("  was started", "apian bees left")
        assert "api was" not in flight.text()
