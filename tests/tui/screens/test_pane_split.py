"""The screen as the user divides it: by keys, by mouse, and the same the next time."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol

import pytest

from cockpit.core.errors import Failed
from cockpit.tui.state.remembered import ViewMemory
from cockpit.wire.course import Course
from cockpit.wire.status import Status
from tests.client.memory import MemoryClient
from tests.tui.scene import agent, scene
from tests.tui.scene_sessions import course


class Fly(Protocol):
    def __call__(self, client: MemoryClient, **how: Any) -> AbstractAsyncContextManager[Any]: ...


def crowd() -> MemoryClient:
    return MemoryClient(Status(agents=[agent(f"agent-{number}") for number in range(60)]))


async def test_the_pane_grows_and_shrinks_and_is_remembered(fly: Fly, tmp_path: Path) -> None:
    file = tmp_path / "screen.json"

    async with fly(crowd(), remember_in=file) as flight:
        fleet = flight.fleet
        before = fleet.pane.size.height
        await flight.press("plus")
        await flight.until(lambda: fleet.pane.size.height > before, "a larger pane")
        larger = fleet.pane.size.height
        await flight.press("minus", "minus")
        await flight.until(lambda: fleet.pane.size.height < before, "a smaller pane")
        await flight.press(*["plus"] * 20)
        await flight.until(lambda: "cannot be made larger" in str(flight.toasts()), "why not")
        assert fleet.fleet.size.height >= 3
        assert fleet.pane.size.height > larger
    async with fly(crowd(), remember_in=file) as flight:
        assert flight.fleet.pane.size.height > larger


async def test_a_list_that_shows_everybody_cannot_grow_and_says_so(fly: Fly) -> None:
    async with fly(MemoryClient(Status(agents=[agent("api")]))) as flight:
        await flight.press("minus")
        await flight.until(lambda: "already shows every agent" in str(flight.toasts()), "why")


async def test_beside_or_below_is_the_pilots_choice_where_there_is_room(
    fly: Fly, tmp_path: Path
) -> None:
    file = tmp_path / "screen.json"

    async with fly(scene(), size=(200, 40), remember_in=file) as flight:
        fleet = flight.fleet
        assert fleet.pane.region.x > 1
        await flight.press("b")
        await flight.until(lambda: fleet.pane.region.x <= 1, "below")
        await flight.press("b")
        await flight.until(lambda: fleet.pane.region.x > 1, "beside")
        width = fleet.pane.size.width
        await flight.press("plus")
        await flight.until(lambda: fleet.pane.size.width > width, "a wider pane")
    async with fly(scene(), size=(120, 30), remember_in=file) as flight:
        assert flight.fleet.pane.region.x > 0
    async with fly(scene(), size=(100, 30), remember_in=file) as flight:
        assert flight.fleet.pane.region.x <= 1
        await flight.press("b")
        await flight.until(lambda: "the terminal has 100" in str(flight.toasts()), "why not")


async def test_the_rule_can_be_drawn_with_the_mouse(fly: Fly, tmp_path: Path) -> None:
    file = tmp_path / "screen.json"

    async with fly(crowd(), remember_in=file) as flight:
        fleet = flight.fleet
        before = fleet.fleet.size.height
        assert flight.pilot
        await flight.pilot.mouse_down("#rule")
        await flight.pilot.hover("#fleet", offset=(5, before - 6))
        await flight.until(lambda: fleet.fleet.size.height < before, "a shorter list")
        assert ViewMemory(file).view.list_height == 55
        await flight.pilot.mouse_up("#rule")
        await flight.until(lambda: ViewMemory(file).view.list_height < 55, "it is kept")


async def test_sorting_is_told_marked_and_remembered(fly: Fly, tmp_path: Path) -> None:
    file = tmp_path / "screen.json"

    async with fly(scene(), remember_in=file, selected="api") as flight:
        await flight.press("S")
        await flight.reads("fullest first")
        assert "Sorted by context: fullest first." in str(flight.toasts())
        assert flight.app.model.selected == "api"
    async with fly(scene(), remember_in=file) as flight:
        await flight.reads("fullest first")


@pytest.mark.long
async def test_the_way_out_of_a_filter(fly: Fly) -> None:
    async with fly(scene(), selected="api") as flight:
        await flight.press("slash", *"mailer", "enter")
        await flight.until(lambda: flight.fleet.fleet.names == ["mailer"], "one")
        await flight.reads("  / mailer", "Esc all")
        await flight.press("escape")
        await flight.until(lambda: len(flight.fleet.fleet.names) == 8, "all")
        assert not flight.fleet.filter_line.display
        assert "Esc all" not in flight.text()
        await flight.press("slash", *"docs", "escape")
        await flight.until(lambda: len(flight.fleet.fleet.names) == 8, "all again")
        await flight.press("j")
        await flight.press("escape")
        await flight.pilot.pause()
        assert flight.toasts() == []


async def test_on_a_low_screen_the_list_comes_before_a_pane_too_small_to_be_one(fly: Fly) -> None:
    client = scene()
    async with fly(client, size=(60, 15), selected="mailer") as flight:
        fleet = flight.fleet
        await flight.reads("◆ permission  Bash git push origin agent/mailer", "importer")
        assert not fleet.pane.size.height
        assert client.onlookers("mailer") == 0
        await flight.press("plus")
        await flight.until(lambda: fleet.pane.size.height, "the pane that was asked for")
        await flight.until(lambda: client.onlookers("mailer") == 1, "somebody who looks")


async def test_few_agents_on_a_low_screen_leave_the_pane_its_room(fly: Fly) -> None:
    client = MemoryClient(Status(agents=[agent("api"), agent("web", "idle")]))
    async with fly(client, size=(60, 15)) as flight:
        await flight.until(lambda: flight.fleet.pane.size.height >= 5, "a pane")


async def test_beside_the_pane_groups_stand_apart_as_long_as_all_have_room(fly: Fly) -> None:
    async with fly(scene(), size=(200, 40)) as flight:
        fleet = flight.fleet.fleet
        await flight.until(lambda: fleet.virtual_size.height == fleet.least + 4, "gaps")
        await flight.pilot.resize_terminal(200, 17)
        await flight.until(lambda: fleet.virtual_size.height == fleet.least, "no gaps")


def courses(client: MemoryClient) -> list[str]:
    return [name for what, name in client.looked_up if what == "course"]


class Unreadable(MemoryClient):
    """No context history can be read."""

    async def course(self, name: str) -> Course:
        raise Failed("The transcript cannot be read", f"It is of {name}.")


def charted() -> MemoryClient:
    client = scene()
    client.chart(course("api"))
    client.happen("agent.started", "api was started", "api")
    client.happen("handoff.begun", "api: the document is being written", "api")
    return client


async def test_below_a_short_list_are_the_context_over_time_and_events(fly: Fly) -> None:
    client = charted()
    async with fly(client, size=(200, 60), selected="api") as flight:
        await flight.reads(
            "╭─ context of api ─", "┄ act 140k", "╭─ events ─", "api       was started"
        )
        assert "the document is being written" in flight.text()
        assert "api: the document" not in flight.text()
        await flight.press("e")
        await flight.until(lambda: "╭─ events ─" not in flight.text(), "no events")
        await flight.press("e")
        await flight.reads("╭─ events ─")
        await flight.press("down")
        await flight.reads("╭─ context of mailer ─", "No token count yet.")
        assert courses(client) == ["api", "mailer"]
        client.change("mailer", chain_cost_usd=7.77)
        await flight.reads("$7.77")
        assert courses(client) == ["api", "mailer"]


async def test_a_long_list_and_a_list_above_the_pane_have_no_panels(fly: Fly) -> None:
    async with fly(crowd(), size=(200, 60)) as flight:
        assert "─ context of" not in flight.text()
    async with fly(charted(), size=(200, 60), selected="api") as flight:
        await flight.reads("─ context of api")
        await flight.press("b")
        await flight.until(lambda: "─ context of" not in flight.text(), "the pane below")


async def test_an_agent_whose_context_cannot_be_read(fly: Fly) -> None:
    client = Unreadable(Status(agents=[agent("api")]))
    async with fly(client, size=(200, 60), selected="api") as flight:
        await flight.reads("The transcript cannot be read")
