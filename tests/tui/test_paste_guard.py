"""Letters that a terminal hands over all at once: a paste that nobody marked as one."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import pytest
from textual.events import Key
from textual.keys import _character_to_key, key_to_character

from cockpit.tui.keys.actions import ACTIONS
from cockpit.tui.screens.confirm import ConfirmScreen
from cockpit.tui.screens.send import SendScreen
from cockpit.tui.terminal.paste_guard import TOGETHER, Burst, PasteGuard, burst_of
from cockpit.wire.verbs import Handoff, Send, Stop
from tests.client.memory import MemoryClient
from tests.tui.scene import scene


class Fly(Protocol):
    def __call__(self, client: MemoryClient, **how: Any) -> AbstractAsyncContextManager[Any]: ...


def keys(text: str) -> list[Key]:
    named = ["enter" if one == "\n" else _character_to_key(one) for one in text]
    return [Key(name, key_to_character(name)) for name in named]


def test_what_comes_sooner_than_fingers_move_is_one_burst() -> None:
    bursts = PasteGuard()
    first, second, third = keys("abc")
    bursts.mark([first], 1.0)
    bursts.mark([second], 1.0 + TOGETHER / 2)
    bursts.mark([third], 1.1)
    assert burst_of(first) is burst_of(second)
    assert burst_of(third) == Burst(1, {"c"})
    assert burst_of(Key("a", "a")) is None


@pytest.mark.parametrize(
    ("text", "pasted"), [("xy", False), ("2hd", False), ("jjjjjjjj\n", False), ("maxx", False),
                         ("make", True), ("ls -la\n", True)],
)  # fmt: skip
def test_a_held_key_and_two_or_three_typed_ahead_are_no_paste(text: str, pasted: bool) -> None:
    given = keys(text)
    PasteGuard().mark(given, 1.0)
    found = burst_of(given[0])
    assert found is not None
    assert found.is_paste is pasted


def paste(app: Any, bursts: PasteGuard, text: str, at: float) -> None:
    """As the driver hands it on where the terminal does not mark it."""
    given = keys(text)
    bursts.mark(given, at)
    for key in given:
        app.post_message(key)


async def test_nobody_is_stopped_by_two_letters_of_a_paste(fly: Fly) -> None:
    async with fly(scene(), selected="checkout", toasts=True) as flight:
        bursts = PasteGuard()
        paste(flight.app, bursts, "xy", 1.0)
        await flight.until(lambda: flight.toasts(), "why not")
        assert "y was ignored: it arrived with other keys" in flight.toasts()[0]
        assert isinstance(flight.app.screen, ConfirmScreen)
        assert flight.asked == []
        paste(flight.app, bursts, "y", 2.0)
        await flight.until(lambda: flight.asked == [Stop(name="checkout")], "the stop")


async def test_a_paste_does_nothing_to_an_agent_and_says_so_once(fly: Fly) -> None:
    async with fly(scene(), selected="api", toasts=True) as flight:
        paste(flight.app, PasteGuard(), "cache\nqueue\n", 1.0)
        await flight.until(lambda: flight.toasts(), "why not")
        await flight.pilot.pause()
        said = [toast for toast in flight.toasts() if "paste" in toast]
        assert len(said) == 1
        assert "12 keys arrived at once, like a paste" in said[0]
        assert (flight.asked, flight.attached) == ([], [])
        assert flight.app.is_running


async def test_one_key_by_itself_acts_as_ever(fly: Fly) -> None:
    async with fly(scene(), selected="checkout") as flight:
        bursts = PasteGuard()
        paste(flight.app, bursts, "f", 1.0)
        await flight.until(lambda: isinstance(flight.app.screen, ConfirmScreen), "the question")
        paste(flight.app, bursts, "y", 2.0)
        await flight.until(lambda: flight.asked == [Handoff(name="checkout")], "the handoff")


async def test_a_pasted_line_is_not_sent_by_its_own_end(fly: Fly) -> None:
    async with fly(scene(), selected="checkout", toasts=True) as flight:
        bursts = PasteGuard()
        paste(flight.app, bursts, "sudo make\n", 1.0)
        await flight.until(lambda: flight.toasts(), "why not")
        assert isinstance(flight.app.screen, SendScreen)
        assert flight.app.screen.area.text == "udo make"
        assert flight.asked == []
        paste(flight.app, bursts, "\n", 2.0)
        await flight.until(lambda: flight.asked, "the prompt")
        assert flight.asked == [Send(name="checkout", text="udo make")]


def test_whatever_is_asked_of_a_supervisor_at_once_weighs() -> None:
    at_once = {"approve", "refuse", "snooze", "let-compact", "handoff", "attach", "quit"}
    for action in ACTIONS:
        assert action.is_destructive or action.id.rpartition(".")[2] not in at_once, action.id
