"""The command palette and the help: what can be done first, and everything in its group."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from cockpit.tui.screens.help import HelpScreen
from tests.client.memory import MemoryClient
from tests.tui.scene import scene


class Fly(Protocol):
    def __call__(self, client: MemoryClient, **how: Any) -> AbstractAsyncContextManager[Any]: ...


def entries(flight: Any) -> list[Any]:
    return list(flight.app.get_system_commands(flight.app.screen))


async def test_what_cannot_be_done_comes_last_with_its_reason(fly: Fly) -> None:
    async with fly(scene(), selected="cron") as flight:
        found = [entry for entry in entries(flight) if entry.title not in {"Theme", "Quit"}]
        refused = ["Not now: " in entry.help for entry in found]
        assert refused == sorted(refused)
        assert True in refused
        assert False in refused


async def test_what_was_run_last_from_the_palette_comes_first(fly: Fly) -> None:
    async with fly(scene(), selected="api") as flight:
        for title in ("Sort", "Filter"):
            next(entry for entry in entries(flight) if entry.title == title).callback()
        assert [entry.title for entry in entries(flight)][:2] == ["Filter", "Sort"]


async def test_a_search_finds_the_sentence_of_the_help_after_the_name(fly: Fly) -> None:
    async with fly(scene(), selected="api") as flight:
        await flight.press("ctrl+p", *"go to the agent's")
        await flight.reads("Attach", "Go to the agent's pane.")
        assert "No matches" not in flight.text()


async def test_the_help_is_grouped_and_as_large_as_its_text(fly: Fly) -> None:
    async with fly(scene(), size=(120, 80), selected="api") as flight:
        await flight.press("question_mark")
        await flight.until(lambda: isinstance(flight.app.screen, HelpScreen), "the help")
        await flight.reads("Agent", "Handoff", "Move", "View", "On the bar", "Find any action")
        lines = flight.app.screen.lines
        assert lines.size.height == lines.virtual_size.height < 80 - 9
        assert len(flight.app.screen._actions) <= lines.virtual_size.height
