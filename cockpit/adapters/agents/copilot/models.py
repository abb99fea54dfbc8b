"""Context windows of Copilot's models, and the point at which Copilot compacts.

Every reply in a transcript reports the window, so `window` is used only before the first reply. At
80% of the window, Copilot begins a compaction in the background and continues to work (1.0.102).
"""

from __future__ import annotations

from cockpit.core.reading import Confidence, Window

ASSUMED_WINDOW = 128_000
COMPACTION_SHARE = 0.8


def window(model: str | None) -> Window:
    """Return an assumed window: the real window depends on the user's subscription or provider."""
    return Window(ASSUMED_WINDOW, Confidence.ASSUMED)


def compacts_at(window_tokens: int) -> int:
    """Return the token count at which Copilot begins to compact automatically."""
    return round(window_tokens * COMPACTION_SHARE)
