"""The worktrees of all agents on a screen: read, looked at again, and told how to remove."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from cockpit.client.memory import MemoryClient
from cockpit.tui.scene import scene
from cockpit.wire.worktrees import Obstacle, WorktreeStatus


class Fly(Protocol):
    def __call__(self, client: MemoryClient, **how: Any) -> AbstractAsyncContextManager[Any]: ...


def tree(name: str, **more: object) -> WorktreeStatus:
    plain = {
        "directory": f"/r/.worktrees/{name}", "repository": "/r", "branch": f"agent/{name}",
        "agent": name, "made": True, "changed": 0, "untracked": 0, "alone": 0,
    }  # fmt: skip
    return WorktreeStatus.model_validate(plain | more)


def test_each_worktree_with_what_stands_against_removing_it(fly: Fly) -> None:
    obstacle = Obstacle(why="web works in it\x1b[2J", next="cockpit stop web")

    async def play() -> None:
        client = scene()
        client.trees = [tree("api"), tree("web", changed=2, obstacles=[obstacle])]
        async with fly(client) as flight:
            await flight.press("W")
            await flight.reads(
                "Worktrees", "2 worktrees", "/r/.worktrees/api", "api, agent/api, clean",
                "to remove it: cockpit worktrees remove /r/.worktrees/api",
                "2 files changed", "before it is removed:", "· web works in it → cockpit stop web",
            )  # fmt: skip
            client.trees = [tree("api")]
            await flight.press("r")
            await flight.reads("1 worktree", "look again", "back")
            await flight.press("W")
            await flight.until(lambda: len(flight.app.screen_stack) == 1)

    asyncio.run(play())


def test_without_one_it_says_how_to_get_one(fly: Fly) -> None:
    async def play() -> None:
        async with fly(scene()) as flight:
            await flight.press("W")
            await flight.reads("0 worktrees", "No worktrees. start --worktree gives an agent one")

    asyncio.run(play())
