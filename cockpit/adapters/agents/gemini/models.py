"""Context windows of Gemini's models, and the point at which Gemini CLI compacts.

No file that the CLI writes contains the window; these are the built-in values of 0.61.0.
"""

from __future__ import annotations

from cockpit.core.reading import Confidence, Window

WINDOW = 1_048_576
GEMMA_WINDOW = 256_000
COMPACTION_SHARE = 0.5
"""Gemini's default of the setting `model.compressionThreshold`, a share of the window."""


def window(model: str | None) -> Window:
    """Return the window that Gemini CLI uses for a model; `ASSUMED` for an unknown model."""
    name = (model or "").lower()
    if name.startswith("gemma-4"):
        return Window(GEMMA_WINDOW, Confidence.DERIVED)
    known = name.startswith("gemini-")
    return Window(WINDOW, Confidence.DERIVED if known else Confidence.ASSUMED)


def compacts_at(window_tokens: int, share: float = COMPACTION_SHARE) -> int:
    """Return the token count at which Gemini compacts automatically.

    An estimate: Gemini compacts only text before the last prompt, so in a long first turn the count
    rises above this value without a compaction.
    """
    return -int(-share * window_tokens // 1)
