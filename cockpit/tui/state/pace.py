"""Limit how often the screen is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import monotonic, thread_time
from typing import Literal

from textual.message_pump import MessagePump

from cockpit.core.deferred_dataclass import dataclass
from cockpit.tui.state.delay import call_after


@dataclass(slots=True)
class Pace:
    """Minimum seconds between two drawings of the rows, and of the pane.

    Changed in place when the setting changes. The pace `low` is for slow connections:
    50 agents take less than 2 KB/s.
    """

    rows: float
    pane: float
    is_low: bool = False
    """Whether the screen also draws less: fewer colours, no frames and no background behind the
    selected row."""

    def copy_from(self, other: Pace) -> None:
        self.rows, self.pane, self.is_low = other.rows, other.pane, other.is_low


Refresh = Literal["auto", "low", "full"]
PACES: dict[str, Pace] = {
    "full": Pace(rows=0.1, pane=0.25),
    "low": Pace(rows=2.0, pane=2.0, is_low=True),
}


def pace(refresh: Refresh, over_ssh: bool) -> Pace:
    """Return the pace for a setting; `auto` means `low` over SSH, else `full`."""
    if refresh == "auto":
        refresh = "low" if over_ssh else "full"
    return replace(PACES[refresh])


TIMES_LONGER = 16.0
"""Minimum interval between calls, as a multiple of a call's processor time; the resulting minimum
is never more than `LONGEST` seconds."""
LONGEST = 1.0


class Throttled:
    """Limits how often a function is called.

    The first call runs at once, later calls when the interval since the previous call is over. The
    interval grows with the processor time of a call, so that keys are still handled in time when
    there are many agents.
    """

    def __init__(
        self, pump: MessagePump, every: Callable[[], float], call: Callable[[], object]
    ) -> None:
        self._pump = pump
        self._every = every
        self._call = call
        self._last = float("-inf")
        self._waiting = False
        self._took = (0.0, 0.0)
        """Processor seconds of the last two calls. The shorter one counts, because a screen's
        first drawing takes longer than later ones."""

    def want(self) -> None:
        """Call the function now, or when the interval is over. Idempotent."""
        if self._waiting:
            return
        wait = (
            self._last
            + max(self._every(), min(min(self._took) * TIMES_LONGER, LONGEST))
            - monotonic()
        )
        if wait <= 0:
            self._make()
        else:
            self._waiting = True
            call_after(self._pump, wait, self._make)

    def _make(self) -> None:
        self._waiting = False
        self._last, began = monotonic(), thread_time()
        try:
            self._call()
        finally:
            self._took = (self._took[1], thread_time() - began)
