"""How many bytes a key and new readings send to a terminal. The `remote` part of `make bench` has
the figures with tmux and ssh in between."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from rich.console import Console

from cockpit.tui.terminal.cells import ScreenDiff
from cockpit.wire.status import AgentStatus, Status
from tests.client.memory import MemoryClient
from tests.tui.scene import agent

SIZE = (100, 30)
KEY, READINGS = 600, 320
"""Most bytes of a key that moves the selection, and of one new reading for each of ten agents."""
LOW_FIRST, LOW_KEY = 2_300, 140
"""Most bytes of the first frame and of a key in `low`, before tmux adds its own."""


class Fly(Protocol):
    def __call__(self, client: MemoryClient, **how: Any) -> AbstractAsyncContextManager[Any]: ...


def idle(number: int, tokens: int) -> AgentStatus:
    return agent(f"agent{number:03}", "idle", tokens)


def sent_to(diff: ScreenDiff, flight: Any) -> Callable[[], int]:
    """How many bytes the terminal gets when the screen is drawn."""

    full = Console(color_system="truecolor", force_terminal=True)

    def drawn() -> int:
        update = flight.app.screen._compositor.render_full_update()
        for strip in (strip for line in update.strips for strip in line):
            strip._render_cache = None  # it was drawn for a terminal without colours
        return len(diff.reduced(update.render_segments(full)).encode())

    return drawn


async def test_a_key_and_ten_readings_send_few_bytes(fly: Fly) -> None:
    client = MemoryClient(Status(agents=[idle(number, 20_000) for number in range(10)]))
    async with fly(client, size=SIZE, selected="agent003") as flight:
        await flight.reads("agent009")
        drawn = sent_to(ScreenDiff(erases=True), flight)
        drawn()
        assert drawn() == 0
        await flight.press("j")
        assert 0 < drawn() <= KEY
        await flight.press("k")
        assert 0 < drawn() <= KEY
        for number in range(10):
            client.put(idle(number, 24_000 + 1_000 * number))
        await flight.reads("27k/200k")
        assert 0 < drawn() <= READINGS


async def test_low_sends_a_fraction_of_that(fly: Fly) -> None:
    client = MemoryClient(Status(agents=[idle(number, 20_000) for number in range(10)]))
    async with fly(client, size=SIZE, selected="agent003", low=True) as flight:
        await flight.reads("agent009")
        drawn = sent_to(ScreenDiff(erases=True), flight)
        assert 0 < drawn() <= LOW_FIRST
        assert drawn() == 0
        for key in "jk":
            await flight.press(key)
            assert 0 < drawn() <= LOW_KEY
