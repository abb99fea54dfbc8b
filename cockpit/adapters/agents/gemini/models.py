"""Context windows of Gemini's models, and the point at which Gemini CLI compacts.

No file of the CLI names the window; these are the numbers that 0.61.0 has built in.
"""

from __future__ import annotations

from cockpit.core.reading import Confidence, Window

WINDOW = 1_048_576
GEMMA_WINDOW = 256_000
COMPACTION_SHARE = 0.5
"""Gemini's default of `model.compressionThreshold`."""


def window(model: str | None) -> Window:
    """Return the window that Gemini CLI counts with; `ASSUMED` for a model of another name."""
    name = (model or "").lower()
    if name.startswith("gemma-4"):
        return Window(GEMMA_WINDOW, Confidence.DERIVED)
    known = name.startswith("gemini-")
    return Window(WINDOW, Confidence.DERIVED if known else Confidence.ASSUMED)


def compacts_at(window_tokens: int, share: float = COMPACTION_SHARE) -> int:
    """Return the tokens from which Gemini compacts automatically.

    Only a first guess: Gemini divides the conversation before a prompt, so during a first long turn
    it finds nothing to compact and goes past this point.
    """
    return -int(-share * window_tokens // 1)
