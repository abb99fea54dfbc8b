"""The preview of a pane: folded to its own width, and short output in sight."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from cockpit.wire.status import Status
from tests.client.memory import MemoryClient
from tests.tui.scene import agent


class Fly(Protocol):
    def __call__(self, client: MemoryClient, **how: Any) -> AbstractAsyncContextManager[Any]: ...


def one(lines: list[str]) -> MemoryClient:
    client = MemoryClient(Status(agents=[agent("api")]))
    client.show("api", lines)
    return client


LONG = "● " + " ".join(f"word{number}" for number in range(40))


async def test_a_line_wider_than_the_preview_is_folded(fly: Fly) -> None:
    async with fly(one([LONG]), size=(80, 24)) as flight:
        await flight.reads("word0", "word39")
        await flight.pilot.resize_terminal(120, 24)
        await flight.reads("word39")
        assert flight.fleet.pane.virtual_size.height == 3


async def test_short_output_above_a_composer_at_the_bottom_is_in_sight(fly: Fly) -> None:
    pane = ["● The answer is 42.", *[""] * 33, "─" * 120, "❯ ", "─" * 120, "  accept edits on"]
    async with fly(one(pane), size=(80, 24)) as flight:
        await flight.reads("The answer is 42.", "accept edits on")
        assert flight.fleet.pane.scroll_offset.y == 0


async def test_a_dead_pane_names_no_key_that_works_only_in_it(fly: Fly) -> None:
    pane = ["Error: no such model", "", "This process has ended with status 1. F12 goes back.", ""]
    async with fly(one(pane), size=(80, 24)) as flight:
        await flight.reads("This process has ended with status 1.")
        assert "F12" not in flight.text()


async def test_only_lines_that_changed_are_drawn_again(fly: Fly) -> None:
    client = one([LONG, "one", "two"])
    async with fly(client, size=(80, 24)) as flight:
        await flight.reads("two")
        view = flight.fleet.pane
        shot = await anext(client.screen("api"))
        assert view.show(shot, whose="api") == 0
        changed = shot.model_copy(update={"lines": [LONG, "one", "three"]})
        assert view.show(changed, whose="api") == 1
