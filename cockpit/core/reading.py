"""How many tokens fill one agent's context, of how many, and how sure we are.

Pure arithmetic. The window comes, in this order, from: the user's own word, the status line,
what the transcript says of itself, the table of models, the fact that more than 200k was seen,
and last an assumption. The confidence says which.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

DEFAULT_WINDOW = 200_000
LARGE_WINDOW = 1_000_000


class Confidence(StrEnum):
    """How much a reading may be trusted; only `ASSUMED` and `UNKNOWN` must never act alone."""

    REPORTED = "reported"
    """The user's override or the CLI's own status line."""
    DERIVED = "derived"
    """From the transcript's identity or the table of models."""
    ASSUMED = "assumed"
    """A window of 200k because nothing better is known."""
    UNKNOWN = "unknown"
    """No tokens are known yet, or none since a compaction."""


Source = Literal["statusline", "transcript"]


@dataclass(frozen=True, slots=True)
class Window:
    """The size of a model's context, in tokens, and how it is known."""

    tokens: int
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class Reading:
    """What one agent's context holds, as its CLI last recorded it.

    `tokens` and `window` are None where they are not known: never a made-up zero.
    """

    tokens: int | None = None
    window: int | None = None
    confidence: Confidence = Confidence.UNKNOWN
    source: Source | None = None

    @property
    def used(self) -> float | None:
        """Share of the window, 0 to 1 and beyond: it is not capped."""
        if self.tokens is None or not self.window:
            return None
        return self.tokens / self.window


UNKNOWN = Reading()


def resolve_window(
    *,
    override: int | None = None,
    reported: int | None = None,
    identity: Window | None = None,
    table: Window | None = None,
    seen: int | None = None,
) -> Window:
    """The window by the best evidence there is, in the order of the arguments.

    `override` is the user's word, `reported` the status line's, `identity` what the transcript
    says of its model, `table` what the model's name says, `seen` the most tokens ever read. A
    derived window smaller than what was seen is contradicted by it and passed over.
    """
    for told in (override, reported):
        if told is not None and told > 0:
            return Window(told, Confidence.REPORTED)
    most = seen or 0
    for window in (identity, table):
        derived = window is not None and window.confidence is Confidence.DERIVED
        if window is not None and derived and window.tokens >= most:
            return window
    if most > DEFAULT_WINDOW:
        return Window(max(LARGE_WINDOW, most), Confidence.DERIVED)
    return Window(DEFAULT_WINDOW, Confidence.ASSUMED)
