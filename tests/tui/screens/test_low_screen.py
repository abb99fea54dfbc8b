"""In the smallest terminal everything that is said can be read, and every form be filled in."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import pytest

from cockpit.tui.keys.actions import ACTIONS
from cockpit.wire.verbs import Start
from tests.client.memory import MemoryClient
from tests.tui.scene import scene

SMALLEST = (40, 10)


class Fly(Protocol):
    def __call__(self, client: MemoryClient, **how: Any) -> AbstractAsyncContextManager[Any]: ...


def words(text: str) -> str:
    return " ".join(text.split())


async def test_every_sentence_of_the_help_can_be_read(fly: Fly) -> None:
    async with fly(scene(), size=SMALLEST) as flight:
        await flight.press("question_mark")
        await flight.reads("Keys", "q back")
        lines = flight.app.screen.query_one("#help-lines")
        read: list[str] = []
        while True:
            strips = [lines.render_line(y).text for y in range(lines.size.height)]
            read += strips[:2]
            if lines.scroll_offset.y >= lines.max_scroll_y:
                read += strips[2:]
                break
            before = lines.scroll_offset.y
            lines.scroll_to(y=before + 2, animate=False, force=True)
            await flight.until(lambda: lines.scroll_offset.y != before, "a scroll")  # noqa: B023
            read = read if lines.scroll_offset.y == before + 2 else read[:-1]
        seen = words(" ".join(line[15:] for line in read))
        for action in ACTIONS:
            if action.context == "fleet":
                assert words(action.sentence) in seen


async def test_the_start_form_begins_at_its_beginning(fly: Fly) -> None:
    async with fly(scene(), size=SMALLEST, selected="api") as flight:
        await flight.press("n")
        await flight.reads("Start an agent", "Enter a name:", "Esc back")
        await flight.press(*"big")
        await flight.reads("Start an agent", "big", "big starts in", "Esc back")
        await flight.press("tab", "tab", *"go")
        await flight.reads("Start an agent", "go", "Esc back")
        await flight.press("ctrl+s")
        await flight.until(lambda: flight.asked)
        order = flight.asked[0]
        assert isinstance(order, Start)
        assert (order.name, order.prompt) == ("big", "go")


async def test_a_reason_is_told_whole(fly: Fly) -> None:
    async with fly(scene(), size=SMALLEST, selected="api", toasts=True) as flight:
        await flight.press("A")
        await flight.reads("The review has already begun.", "approve the document.")


async def test_a_refusal_that_is_nearly_as_long_as_the_screen_is_wide_is_shown_in_full(
    fly: Fly,
) -> None:
    for width in (58, 60, 62):
        async with fly(scene(), size=(width, 14), toasts=True) as flight:
            await flight.press("H")
            await flight.reads("8 handoffs")
            await flight.press("c")
            await flight.until(flight.toasts)
            await flight.pilot.pause()
            assert "Mark two documents with Space, or mark one and select another." in words(
                flight.text().replace("▌", " ").replace("…", " ")
            ), width


@pytest.mark.parametrize("size", [(19, 24), (80, 4), (10, 3)])
async def test_a_terminal_that_is_too_small_says_what_it_needs(
    fly: Fly, size: tuple[int, int]
) -> None:
    async with fly(scene(), size=size) as flight:
        await flight.until(lambda: "too small:" in flight.text())
        assert "needs 20x5" in flight.text()
        assert flight.pilot is not None
        await flight.pilot.resize_terminal(80, 24)
        await flight.reads("need you")
        assert "too small" not in flight.text()
        await flight.pilot.resize_terminal(20, 5)
        await flight.pilot.pause()
        assert "too small" not in flight.text()
