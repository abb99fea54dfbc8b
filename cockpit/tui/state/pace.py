"""Limits how often the screen is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic
from typing import Literal

from textual.message_pump import MessagePump


@dataclass(slots=True)
class Pace:
    """Minimum seconds between two drawings; changed in place when the setting changes.

    `low` is for slow connections: 50 agents in less than 2 KB/s.
    """

    rows: float
    pane: float

    def copy_from(self, other: Pace) -> None:
        self.rows, self.pane = other.rows, other.pane


PACES: dict[str, Pace] = {"auto": Pace(rows=0.1, pane=0.25), "low": Pace(rows=2.0, pane=2.0)}


def pace(refresh: Literal["auto", "low"], over_ssh: bool) -> Pace:
    """Return the pace for a setting; `auto` means `low` over SSH."""
    return replace(PACES["low" if over_ssh else refresh])


class Throttled:
    """A limit on how often a function is called.

    The first call runs at once, later calls after the interval.
    """

    def __init__(
        self, pump: MessagePump, every: Callable[[], float], call: Callable[[], object]
    ) -> None:
        self._pump = pump
        self._every = every
        self._call = call
        self._last = float("-inf")
        self._waiting = False

    def want(self) -> None:
        """Call the function now, or when the interval is over. Idempotent."""
        if self._waiting:
            return
        wait = self._last + self._every() - monotonic()
        if wait <= 0:
            self._make()
        else:
            self._waiting = True
            self._pump.set_timer(wait, self._make)

    def _make(self) -> None:
        self._waiting = False
        self._last = monotonic()
        self._call()
