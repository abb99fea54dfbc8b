"""A session's course in a few cells: one step each, as high as the window was full."""

from __future__ import annotations

from collections.abc import Sequence

STEPS = "▁▂▃▄▅▆▇█"


def trend(readings: Sequence[int], window: int | None) -> str:
    """A cell a reading, oldest first. One alone is no trend, and without a window none is known."""
    if len(readings) < 2 or not window:
        return ""
    return "".join(STEPS[min(max(each * len(STEPS) // window, 0), 7)] for each in readings)
