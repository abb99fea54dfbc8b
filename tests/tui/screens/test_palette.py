"""The command palette and the help: what can be done first, and everything in its group."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import pytest

from cockpit.config.files import Files
from cockpit.config.paths import Places
from cockpit.tui.screens.help import HelpScreen
from cockpit.tui.screens.palette import Actions
from cockpit.tui.screens.settings.fields import PATHS
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


@pytest.mark.long
async def test_a_search_finds_the_sentence_of_the_help_after_the_name(fly: Fly) -> None:
    async with fly(scene(), selected="api") as flight:
        await flight.press("ctrl+p", *"go to the agent's")
        await flight.reads("Attach", "Go to the agent's pane.")
        assert "No matches" not in flight.text()


@pytest.mark.parametrize(
    ("word", "title"), [("search", "Filter"), ("find", "History"), ("wake", "Snooze")]
)
async def test_an_action_is_found_by_another_word_for_it(fly: Fly, word: str, title: str) -> None:
    async with fly(scene(), selected="api") as flight:
        hits = [hit async for hit in Actions(flight.app.screen).search(word)]
        assert title in {str(hit.text) for hit in hits}


def files_in(folder: Path) -> Callable[[], Files]:
    return partial(Files.read, Places.of({"COCKPIT_HOME": str(folder)}), None, folder, {})


async def test_a_setting_is_found_by_its_name_and_opens_at_its_field(
    fly: Fly, own_home: Path
) -> None:
    async with fly(scene(), selected="api", files=files_in(own_home)) as flight:
        await flight.press("ctrl+p", *"thresh")
        await flight.reads("Change threshold: act…", "Threshold of a handoff.")
        await flight.press("escape", "ctrl+p", *"old: act")
        await flight.reads("Change threshold: act…")
        await flight.press("enter", *"55%")
        await flight.reads("Settings", "55%")
        act = flight.app.screen.settings["defaults", "context", "act"]
        assert act.field.value == "55%"


async def test_letters_in_their_order_are_no_match_of_a_sentence(fly: Fly, own_home: Path) -> None:
    async with fly(scene(), selected="api", files=files_in(own_home)) as flight:
        found = [str(hit.text) async for hit in Actions(flight.app.screen).search("thresh")]
        assert "Change threshold: act…" in found
        assert "Change setting: theme…" not in found
        found = [str(hit.text) async for hit in Actions(flight.app.screen).search("textual THEME")]
        assert found == ["Change setting: theme…"]


async def test_every_setting_of_the_form_is_in_the_palette_with_its_sentence(
    fly: Fly, own_home: Path
) -> None:
    async with fly(scene(), selected="api", files=files_in(own_home)) as flight:
        found = list(flight.app.setting_commands(flight.app.screen))
        assert len(found) == len(PATHS) == len({entry.title for entry in found})
        assert all(entry.help.endswith(".") for entry in found)
    async with fly(scene(), selected="api") as flight:
        assert not list(flight.app.setting_commands(flight.app.screen))


async def test_the_help_is_grouped_and_as_large_as_its_text(fly: Fly) -> None:
    async with fly(scene(), size=(120, 80), selected="api") as flight:
        await flight.press("question_mark")
        await flight.until(lambda: isinstance(flight.app.screen, HelpScreen), "the help")
        await flight.reads("Agent", "Handoff", "Move", "View", "On the bar", "Find any action")
        lines = flight.app.screen.lines
        assert lines.size.height == lines.virtual_size.height < 80 - 9
        assert len(flight.app.screen._actions) <= lines.virtual_size.height
