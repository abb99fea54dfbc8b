"""What every place with keys does, whatever it shows."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import pytest

from cockpit.tui.keys.actions import ACTIONS
from cockpit.tui.screens.base_screen import BaseScreen
from cockpit.wire.status import Status
from tests.client.memory import MemoryClient
from tests.long_cases import cases
from tests.tui.scene import agent, scene


class Fly(Protocol):
    def __call__(self, client: MemoryClient, **how: Any) -> AbstractAsyncContextManager[Any]: ...


WAYS = {
    "history": ("H",),
    "reading": ("H", "j", "enter"),
    "comparing": ("H", "G", "space", "k", "c"),
    "worktrees": ("W",),
    "review": ("d",),
    "inbox": ("i",),
    "agent": ("o",),
}
SOME_WAYS = cases("history", "review", long=sorted(WAYS.keys() - {"history", "review"}))


async def go(flight: Any, place: str) -> None:
    """Go to a place; keys for the entries of a list are pressed once the entries are there."""
    opens, *then = WAYS[place]
    await flight.press(opens)
    if then:
        await flight.reads("8 handoffs")
        await flight.press(*then)
    await flight.until(lambda: getattr(flight.app.screen, "CONTEXT", "") == place, place)


async def test_a_key_waits_for_no_more_than_a_120th_of_a_second_to_be_drawn(fly: Fly) -> None:
    async with fly(scene()) as flight:
        assert flight.app.screen._update_timer._interval == 1 / 120


@pytest.mark.parametrize("place", SOME_WAYS)
async def test_a_lost_supervisor_is_said_on_every_place_until_it_is_back(
    fly: Fly, place: str
) -> None:
    client = scene()
    async with fly(client, selected="api") as flight:
        await go(flight, place)
        assert "supervisor unreachable" not in flight.text()
        client.disconnect()
        await flight.reads("supervisor unreachable")
        if place not in {"inbox", "agent"}:
            await flight.reads("start it: cockpit up")
        client.reconnect()
        await flight.until(lambda: "supervisor unreachable" not in flight.text(), "back")


@pytest.mark.parametrize("context", SOME_WAYS)
async def test_a_screen_handles_the_actions_of_its_context_and_no_others(
    fly: Fly, context: str
) -> None:
    async with fly(scene(), selected="api") as flight:
        await go(flight, context)
        assert isinstance(flight.app.screen, BaseScreen)
        assert set(flight.app.screen.handlers()) == actions_of(context)
        assert set(flight.fleet.commands.handlers()) == actions_of("fleet")


def actions_of(context: str) -> set[str]:
    return {action.id for action in ACTIONS if action.context == context}


async def test_two_documents_that_cannot_be_had_are_not_being_compared(fly: Fly) -> None:
    client = scene()
    async with fly(client, selected="api") as flight:
        await flight.press("H")
        await flight.reads("8 handoffs", "142k → 38k")
        await flight.press("j")
        client.disconnect()
        await flight.reads("supervisor unreachable")
        await flight.press("space", "j", "c")
        await flight.reads(" Compare ", "Cannot read one of the documents")
        assert "comparing" not in flight.text()


async def test_what_could_not_be_had_is_had_once_somebody_answers(fly: Fly) -> None:
    client = scene()
    async with fly(client, selected="api") as flight:
        await flight.press("H")
        await flight.reads("8 handoffs", "142k → 38k")
        await flight.press("j")
        client.disconnect()
        await flight.reads("supervisor unreachable")
        await flight.press("enter")
        await flight.reads("Document api", "supervisor unreachable")
        assert "Current Task" not in flight.text()
        assert "not verified" not in flight.text()
        client.reconnect()
        await flight.reads("Current Task")


@pytest.mark.parametrize("key", ["H", "E", "W", "i"])
async def test_an_empty_list_offers_only_help_and_the_way_back(fly: Fly, key: str) -> None:
    async with fly(MemoryClient(Status(agents=[agent("api")]))) as flight:
        await flight.press(key)
        await flight.until(lambda: len(flight.app.screen_stack) == 2)
        screen = flight.app.screen
        await flight.until(lambda: not screen.has_items, "the empty list")
        allowed = {"help", "back", "again"}
        assert {one.id.rpartition(".")[2] for one in screen.hints()} <= allowed
        await flight.reads("? help", "q back")
        line = flight.text().splitlines()[-1]
        assert not any(word in line for word in ("read", "open", "remove", "adopt"))
