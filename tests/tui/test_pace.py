"""How often a screen is drawn depends on what a drawing costs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import chain, repeat
from time import thread_time
from typing import Any, cast

import pytest
from textual import _time
from textual.app import App
from textual.message_pump import MessagePump

from cockpit.tui.state import pace
from cockpit.tui.state.pace import LONGEST, TIMES_LONGER, Throttled

COST = 0.02


class Timers:
    """A message pump, and the delays that were asked of it."""

    def __init__(self) -> None:
        self.set: list[tuple[float, Callable[[], Any]]] = []

    def call_after(self, pump: object, seconds: float, call: Callable[[], Any]) -> None:
        assert pump is self
        self.set.append((seconds, call))


@pytest.fixture
def timers(monkeypatch: pytest.MonkeyPatch) -> Timers:
    timers = Timers()
    monkeypatch.setattr(pace, "call_after", timers.call_after)
    monkeypatch.setattr(pace, "monotonic", lambda: 0.0)
    return timers


def busy(seconds: float) -> None:
    end = thread_time() + seconds
    while thread_time() < end:
        pass


def throttled(timers: Timers, every: float, cost: float) -> Throttled:
    return Throttled(cast("MessagePump", timers), lambda: every, lambda: busy(cost))


def test_drawings_that_cost_much_are_rarer(timers: Timers) -> None:
    draw = throttled(timers, 0.0, COST)
    draw.want()
    draw.want()  # the first drawing alone does not count
    assert not timers.set
    draw.want()
    (wait, _) = timers.set[0]
    assert 0 < wait <= LONGEST
    assert wait > COST * TIMES_LONGER / 4


def test_drawings_that_cost_little_keep_their_interval(timers: Timers) -> None:
    draw = throttled(timers, 60.0, 0.0)
    draw.want()
    draw.want()
    (wait, _) = timers.set[0]
    assert 50 < wait <= 60


async def test_a_busy_processor_does_not_end_the_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The processor does something else for a second whenever a timer starts."""
    drawn = asyncio.Event()
    app = App[None]()
    async with app.run_test():
        draw = Throttled(app, lambda: 0.01, drawn.set)
        draw.want()
        drawn.clear()
        clock, seconds = _time.get_time, chain(range(20), repeat(20))
        monkeypatch.setattr(_time, "get_time", lambda: clock() + next(seconds))
        draw.want()
        await asyncio.wait_for(drawn.wait(), 30)


def test_auto_is_low_over_ssh_only_and_full_is_not() -> None:
    assert pace.pace("auto", over_ssh=True) == pace.pace("low", over_ssh=False) == pace.PACES["low"]
    assert pace.pace("auto", over_ssh=False) == pace.pace("full", over_ssh=True)
    assert not pace.pace("full", over_ssh=True).is_low
