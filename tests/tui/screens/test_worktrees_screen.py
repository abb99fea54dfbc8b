"""The worktrees of all agents on a screen: read, looked at again, and removed."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, Protocol

from cockpit.client.host_client import HostClient
from cockpit.client.joined_client import JoinedClient
from cockpit.core.errors import NotNow
from cockpit.wire.status import Status
from cockpit.wire.verbs import Done, RemoveWorktree, Verb
from cockpit.wire.worktrees import Obstacle, WorktreeStatus
from tests.client.memory import MemoryClient
from tests.tui.scene import scene


class Fly(Protocol):
    def __call__(self, client: MemoryClient, **how: Any) -> AbstractAsyncContextManager[Any]: ...


def tree(name: str, **more: object) -> WorktreeStatus:
    plain = {
        "directory": f"/r/.worktrees/{name}", "repository": "/r", "branch": f"agent/{name}",
        "agent": name, "made": True, "changed": 0, "untracked": 0, "alone": 0,
    }  # fmt: skip
    return WorktreeStatus.model_validate(plain | more)


async def test_each_worktree_with_what_stands_against_removing_it(fly: Fly) -> None:
    obstacle = Obstacle(why="web works in it\x1b[2J", next="Stop it: cockpit stop web", agent="web")

    client = scene()
    client.trees = [tree("api"), tree("web", changed=2, obstacles=[obstacle])]
    async with fly(client) as flight:
        await flight.press("W")
        await flight.reads(
            "Worktrees", "2 worktrees", "worktree  branch", "/r/.worktrees/api", "clean",
            "x removes it", "2 files changed",
        )  # fmt: skip
        await flight.press("j")
        await flight.reads("to remove it, first:", "· web works in it → Stop it: cockpit stop web")
        await flight.reads("(or x on web in the list of agents)")
        client.trees = [tree("api")]
        await flight.press("r")
        await flight.reads("1 worktree", "reload", "back")
        await flight.press("W")
        await flight.until(lambda: len(flight.app.screen_stack) == 1)


async def test_the_worktree_of_the_selected_agent_is_selected_first(fly: Fly) -> None:
    client = scene()
    client.trees = [tree("api"), tree("web")]
    async with fly(client, selected="web") as flight:
        await flight.press("W")
        await flight.reads("2 worktrees", "▌  /r/.worktrees/web")
        await flight.press("k", "r")
        await flight.reads("▌  /r/.worktrees/api")


async def test_work_that_can_be_saved_names_the_key_that_saves_it(fly: Fly) -> None:
    saved = Obstacle(
        why="3 commits not pushed or merged", next="push, or save it with --salvage",
        salvageable=True,
    )  # fmt: skip
    client = scene()
    client.trees = [tree("api", alone=3, obstacles=[saved])]
    async with fly(client) as flight:
        await flight.press("W")
        await flight.reads(
            "X saves the following in git, then removes the worktree:",
            "· 3 commits not pushed or merged",
        )
        assert "--salvage" not in flight.text()
        assert "to remove it, first:" not in flight.text()


async def test_the_list_does_not_wait_for_the_sizes(fly: Fly) -> None:
    client = scene()
    client.trees = [tree("api", size=2_140_000_000, size_partial=True), tree("web", size=4_096)]
    client.measuring.clear()
    async with fly(client) as flight:
        await flight.press("W")
        await flight.reads("2 worktrees", "x removes it", "measuring…")
        assert "GB" not in flight.text()
        client.measuring.set()
        await flight.reads("over 2.1 GB", "4.1 kB")
        assert "measuring…" not in flight.text()


async def test_sizes_that_cannot_be_measured_stay_unknown(fly: Fly) -> None:
    client = scene()
    client.trees = [tree("api", size=2_140_000_000)]
    client.measuring.clear()
    async with fly(client) as flight:
        await flight.press("W")
        await flight.reads("1 worktree", "measuring…")
        client.sizes_fail = True
        client.measuring.set()
        await flight.until(lambda: "measuring…" not in flight.text())
        assert "GB" not in flight.text()
        assert "/r/.worktrees/api" in flight.text()


def gone(client: MemoryClient, verb: RemoveWorktree) -> Done:
    client.trees = [each for each in client.trees if each.directory != verb.tree]
    kept = "refs/cockpit/salvage/api/1"
    return Done(message=f"Removed {verb.tree}; all of it is saved: {kept}", text=kept)


async def test_removing_takes_two_different_keys_and_tells_how_to_have_it_back(fly: Fly) -> None:
    client = scene()
    client.trees = [tree("api"), tree("web")]
    client.when(RemoveWorktree, partial(gone, client))
    async with fly(client) as flight:
        await flight.press("W")
        await flight.reads("x removes it")
        await flight.press("x", "x", "x", "n")
        assert flight.asked == []
        await flight.press("x")
        await flight.reads("Remove /r/.worktrees/api?", "The branch agent/api is kept")
        await flight.press("y")
        await flight.reads(
            "1 worktree", "✓ removed /r/.worktrees/api", "saved as refs/cockpit/salvage/api/1",
            "to restore it, in /r:",
            "git worktree add --no-checkout .worktrees/api agent/api",
            "cockpit worktrees restore refs/cockpit/salvage/api/1 .worktrees/api",
            "git -C .worktrees/api reset -q",
        )  # fmt: skip
        assert flight.asked == [RemoveWorktree(tree="/r/.worktrees/api")]
        await flight.press("q", "W")
        await flight.reads("✓ removed /r/.worktrees/api")


async def test_why_one_cannot_be_removed_is_said_before_anything_is_asked(fly: Fly) -> None:
    works = Obstacle(why="web works in it", next="Stop it: cockpit stop web", agent="web")
    files = Obstacle(why="it has 2 changed files, 0 untracked", next="Commit it", salvageable=True)

    client = scene()
    client.trees = [
        tree("api", changed=2, obstacles=[files]),
        tree("web", obstacles=[works, files]),
        tree("own", made=False, agent=None, obstacles=[
            Obstacle(why="cockpit has not made it", next="If it is yours: git worktree remove")
        ]),
    ]  # fmt: skip
    async with fly(client) as flight:
        await flight.press("W")
        await flight.reads("3 worktrees")
        await flight.press("G")
        await flight.reads("never removes it")
        await flight.press("g")
        await flight.press("x")
        await flight.until(lambda: "X saves this work in git" in str(flight.toasts()))
        await flight.press("X")
        await flight.reads("Remove /r/.worktrees/api?", "2 files changed")
        await flight.press("n", "j", "X")
        await flight.until(
            lambda: "web works in it. Stop it: cockpit stop web" in str(flight.toasts())
        )
        await flight.press("j", "x")
        await flight.until(lambda: "cockpit has not made it" in str(flight.toasts()))
        assert flight.asked == []
        await flight.press("g", "X", "y")
        await flight.until(lambda: flight.asked, "the removal")
        assert flight.asked == [RemoveWorktree(tree="/r/.worktrees/api", salvage=True)]


async def test_a_removal_is_seen_to_go_on_and_outlives_the_screen(fly: Fly) -> None:
    client = Slow()
    client.trees = [tree("api")]
    async with fly(client) as flight:
        await flight.press("W")
        await flight.reads("x removes it")
        await flight.press("x", "y")
        await flight.reads("removing for")
        await flight.press("x")
        await flight.until(lambda: "already being removed" in str(flight.toasts()))
        await flight.press("q", "W")
        await flight.reads("removing for")
        await flight.press("q")
        client.go_on.set()
        await flight.until(lambda: "refs/cockpit/salvage/api/1" in str(flight.toasts()))


async def test_a_refusal_stands_at_the_worktree_until_it_is_looked_at_again(fly: Fly) -> None:
    client = scene()
    client.trees = [tree("api")]
    client.refuse(
        RemoveWorktree,
        NotNow("/r/.worktrees/api is not removed", "- process 7 works in it\x1b[2J\n  End it",
               "Nothing was changed."),
    )  # fmt: skip
    async with fly(client) as flight:
        await flight.press("W")
        await flight.reads("x removes it")
        await flight.press("x", "y")
        await flight.reads("is not removed", "process 7 works in it", "Nothing was changed.")
        assert "\x1b" not in flight.text()
        await flight.press("r")
        await flight.reads("x removes it")


async def test_one_of_another_machine_is_asked_for_by_its_name(fly: Fly) -> None:
    far = scene()
    far.trees = [tree("far")]

    here = scene()
    join = partial(joined, far)
    async with fly(here, size=(140, 30), join=join) as flight:
        await flight.reads("gpu1 ●")
        await flight.press("W")
        await flight.reads("gpu1:/r/.worktrees/far", "x removes it")
        await flight.press("x")
        await flight.reads("Remove gpu1//r/.worktrees/far?")
        await flight.press("y")
        await flight.until(lambda: far.asked, "the far supervisor")
        assert far.asked == [RemoveWorktree(tree="/r/.worktrees/far")]
        assert here.asked == []
        far.disconnect()
        await flight.reads("gpu1 does not answer")


def joined(far: MemoryClient, here: MemoryClient) -> JoinedClient:
    return JoinedClient(here, [HostClient("gpu1", far)])


class Slow(MemoryClient):
    """A supervisor that takes its time for a removal."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = asyncio.Event()

    async def ask(self, verb: Verb) -> Done:
        done = await super().ask(verb)
        if isinstance(verb, RemoveWorktree):
            await self.go_on.wait()
            return gone(self, verb)
        return done


async def test_without_one_it_says_how_to_get_one(fly: Fly) -> None:
    async with fly(scene()) as flight:
        await flight.press("W")
        await flight.reads("0 worktrees", "No worktrees. To start an agent in its own")


async def test_how_to_restore_a_removed_worktree_is_in_sight(fly: Fly) -> None:
    client = scene()
    blocked = [Obstacle(why=f"reason {n}", next="wait") for n in range(8)]
    rest = [tree(f"web-{n}", obstacles=blocked) for n in range(9)]
    client.trees = [tree("api"), *rest]

    def removed(_: Verb) -> Done:
        client.trees = rest
        return Done(message="removed", name="api", text="refs/cockpit/salvage/api/20261121T120000Z")

    client.when(RemoveWorktree, removed)
    async with fly(client, size=(80, 24)) as flight:
        await flight.press("W")
        await flight.reads("10 worktrees", "x removes it")
        await flight.press("x")
        await flight.reads("Remove /r/.worktrees/api?")
        await flight.press("y")
        await flight.reads("9 worktrees", "to restore it, in /r:", "reset -q")
        shown = [line.strip(" ▌│╭╮╰╯─\n") for line in flight.text().splitlines()]
        restore = next(line for line in shown if line.startswith("cockpit worktrees restore"))
        assert restore.endswith("20261121T120000Z \\")
        assert shown[shown.index(restore) + 1] == ".worktrees/api"


async def test_how_to_restore_a_worktree_names_the_machine_of_the_screen(fly: Fly) -> None:
    client = MemoryClient(Status(host="gpu1"))
    client.trees = [tree("api")]
    client.when(RemoveWorktree, lambda _: Done(message="removed", name="api"))
    async with fly(client) as flight:
        await flight.press("W")
        await flight.reads("x removes it")
        await flight.press("x")
        await flight.reads("Remove /r/.worktrees/api?")
        await flight.press("y")
        await flight.reads("to restore it, on gpu1, in /r:", "worktree add .worktrees/api")
