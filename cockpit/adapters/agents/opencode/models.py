"""Context windows of opencode's models, and the point at which opencode compacts.

Both are in a transcript after the first request, so these values only count before it. opencode
takes them from its list of models, or from the user's `opencode.json`.
"""

from __future__ import annotations

from collections.abc import Mapping

from cockpit.core.reading import Confidence, Window

ASSUMED_WINDOW = 200_000
LARGEST_REPLY = 32_000
"""Tokens that opencode keeps free for a reply, at most."""
SWITCHED_OFF = "OPENCODE_DISABLE_AUTOCOMPACT"


def window(model: str | None) -> Window:
    """Return an assumed window: opencode has models of many providers."""
    return Window(ASSUMED_WINDOW, Confidence.ASSUMED)


def compacts_at(window_tokens: int, environment: Mapping[str, str]) -> int | None:
    """Return the tokens at which opencode compacts automatically (1.18.33); None if that is off.

    It compares with the last reply's total. The room for a reply can be smaller for a model with
    short replies; the transcript then names the point.
    """
    if environment.get(SWITCHED_OFF, "").lower() in {"1", "true"}:
        return None
    return max(window_tokens - LARGEST_REPLY, window_tokens // 2)
