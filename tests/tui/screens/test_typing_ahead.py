"""Keys that arrive all at once, as over a slow line, do what they would do one by one."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol

from textual.events import Key
from textual.keys import key_to_character

from cockpit.tui.screens.start.screen import StartScreen
from cockpit.wire.verbs import Send
from tests.client.memory import MemoryClient
from tests.tui.scene import scene


class Fly(Protocol):
    def __call__(self, client: MemoryClient, **how: Any) -> AbstractAsyncContextManager[Any]: ...


def burst(app: Any, *keys: str) -> None:
    """All in one go: none of them waits until the one before it has done anything."""
    for key in keys:
        app.post_message(Key(key, key_to_character(key)))


async def test_what_follows_the_key_that_opens_a_form_is_the_forms(fly: Fly) -> None:
    async with fly(scene(), selected="checkout") as flight:
        burst(flight.app, "s", *"exy", "h", "a", "enter")
        await flight.until(lambda: flight.asked, "the prompt")
        assert flight.asked == [Send(name="checkout", text="exyha")]


async def test_fields_take_their_keys_in_order(fly: Fly, tmp_path: Path) -> None:
    async with fly(scene(), selected="api", directory=tmp_path) as flight:
        burst(
            flight.app, "n", *"cron", "ctrl+u", *"big", "tab", *"/xy", "home", *"z",
            "tab", *"go", "ctrl+j", *"on", "shift+tab", "backspace",
        )  # fmt: skip
        where = "/xy"
        await flight.until(
            lambda: (
                isinstance(flight.app.screen, StartScreen)
                and flight.app.screen.where.value == where
            ),
            where,
        )
        form = flight.app.screen
        assert (form.named.value, form.prompt.text) == ("big", "go\non")


async def test_what_is_submitted_is_all_that_was_typed_before(fly: Fly) -> None:
    async with fly(scene(), selected="checkout") as flight:
        burst(flight.app, "s", *"all of this", "ctrl+s")
        await flight.until(lambda: flight.asked, "the prompt")
        assert flight.asked == [Send(name="checkout", text="all of this")]


async def test_letters_and_keys_of_a_filter_are_the_filters(fly: Fly) -> None:
    async with fly(scene(), selected="checkout") as flight:
        burst(flight.app, "slash", *"xax", "backspace", "home", "delete", *"m", "enter")
        await flight.until(lambda: flight.fleet.fleet.filter == "ma", "a filter")
        await flight.until(lambda: flight.app.model.selected == "mailer", "the one that is left")
        assert flight.attached == []
        assert flight.asked == []
