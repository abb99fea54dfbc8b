"""A sparkline of a session's context usage."""

from __future__ import annotations

from collections.abc import Sequence

STEPS = "▁▂▃▄▅▆▇█"


def trend(readings: Sequence[int], window: int | None) -> str:
    """Return one cell per token count, oldest first.

    Empty with fewer than two counts, or without a window.
    """
    if len(readings) < 2 or not window:
        return ""
    return "".join(STEPS[min(max(reading * len(STEPS) // window, 0), 7)] for reading in readings)
