"""How often a screen is drawn depends on what a drawing costs."""

from __future__ import annotations

from collections.abc import Callable
from time import thread_time
from typing import Any, cast

from textual.message_pump import MessagePump

from cockpit.tui.state.pace import LONGEST, TIMES_LONGER, Throttled

COST = 0.02


class Timers:
    """A message pump that only notes which timers were set."""

    def __init__(self) -> None:
        self.set: list[tuple[float, Callable[[], Any]]] = []

    def set_timer(self, seconds: float, call: Callable[[], Any]) -> None:
        self.set.append((seconds, call))


def busy(seconds: float) -> None:
    end = thread_time() + seconds
    while thread_time() < end:
        pass


def throttled(every: float, cost: float) -> tuple[Throttled, Timers]:
    timers = Timers()
    return Throttled(cast("MessagePump", timers), lambda: every, lambda: busy(cost)), timers


def test_drawings_that_cost_much_are_rarer() -> None:
    draw, timers = throttled(0.0, COST)
    draw.want()
    draw.want()  # the first drawing alone does not count
    assert not timers.set
    draw.want()
    (wait, _) = timers.set[0]
    assert 0 < wait <= LONGEST
    assert wait > COST * TIMES_LONGER / 4


def test_drawings_that_cost_little_keep_their_interval() -> None:
    draw, timers = throttled(60.0, 0.0)
    draw.want()
    draw.want()
    (wait, _) = timers.set[0]
    assert 50 < wait <= 60
