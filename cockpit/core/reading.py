"""The tokens in one agent's context, the size of the context window, and how reliable both are.

The window comes from the first of these sources that is known: the user's setting, the CLI's report
(status line or transcript), the table of models, a token count above 200k, the default of 200k. The
confidence depends on the source.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from cockpit.core.deferred_dataclass import dataclass

DEFAULT_WINDOW = 200_000
LARGE_WINDOW = 1_000_000


class Confidence(StrEnum):
    """The reliability of a token count. A count that is `ASSUMED` or `UNKNOWN` never causes an
    automatic handoff."""

    REPORTED = "reported"
    """The window comes from the user's setting, or the CLI reported it."""
    DERIVED = "derived"
    """The window comes from the table of models, or a count above 200k."""
    ASSUMED = "assumed"
    """The window is assumed to be 200k, because no source has it."""
    UNKNOWN = "unknown"
    """The token count is unknown, for example because no reply came since a compaction."""


Source = Literal["statusline", "transcript"]


@dataclass(frozen=True, slots=True)
class Window:
    """The size of a model's context, in tokens, and the confidence in this size."""

    tokens: int
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class Reading:
    """Tokens in one agent's context, as its CLI last recorded them.

    `tokens` and `window` are None if unknown, never 0.
    """

    tokens: int | None = None
    window: int | None = None
    confidence: Confidence = Confidence.UNKNOWN
    source: Source | None = None

    @property
    def used(self) -> float | None:
        """Share of the window that is used; can exceed 1. None if tokens or window are unknown."""
        if self.tokens is None or not self.window:
            return None
        return self.tokens / self.window


UNKNOWN = Reading()


def resolve_window(
    *,
    override: int | None = None,
    reported: int | None = None,
    table: Window | None = None,
    seen: int | None = None,
) -> Window:
    """Return the window from the first argument that is known; an assumed 200k if none is.

    `override` is the user's setting. `reported` comes from the CLI: its status line or transcript.
    `table` comes from the model's name. `seen` is the largest token count; a derived window that is
    smaller than `seen` is wrong and ignored.
    """
    for size in (override, reported):
        if size is not None and size > 0:
            return Window(size, Confidence.REPORTED)
    most = seen or 0
    derived = table is not None and table.confidence is Confidence.DERIVED
    if table is not None and derived and table.tokens >= most:
        return table
    if most > DEFAULT_WINDOW:
        return Window(max(LARGE_WINDOW, most), Confidence.DERIVED)
    return Window(DEFAULT_WINDOW, Confidence.ASSUMED)
