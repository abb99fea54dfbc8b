"""Context windows of opencode's models, and the point at which opencode compacts.

After the first request, the transcript contains the window and the compaction point. Until then,
this module's values are used. opencode reads the limits of a model from its own list of models, or
from the user's `opencode.json`.
"""

from __future__ import annotations

from collections.abc import Mapping

from cockpit.core.reading import Confidence, Window

ASSUMED_WINDOW = 200_000
LARGEST_REPLY = 32_000
"""Maximum tokens that opencode reserves for a reply, unless the user sets `REPLY_LIMIT`."""
REPLY_LIMIT = "OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX"
SWITCHED_OFF = "OPENCODE_DISABLE_AUTOCOMPACT"


def window(model: str | None) -> Window:
    """Return an assumed window, because opencode supports models of many providers."""
    return Window(ASSUMED_WINDOW, Confidence.ASSUMED)


def compacts_at(window_tokens: int, environment: Mapping[str, str]) -> int | None:
    """Return the token count at which opencode 1.18.33 compacts; None if compaction is disabled.

    opencode compares this count with the total tokens of the latest reply. The count is an
    estimate: if a model's longest reply is shorter than `LARGEST_REPLY`, or than the user's
    `REPLY_LIMIT`, opencode reserves fewer tokens and compacts later. The count is never less than
    half the window.
    """
    if environment.get(SWITCHED_OFF, "").lower() in {"1", "true"}:
        return None
    return max(window_tokens - _largest_reply(environment), window_tokens // 2)


def _largest_reply(environment: Mapping[str, str]) -> int:
    """Return the user's `REPLY_LIMIT` if it is a positive whole number, else `LARGEST_REPLY`."""
    text = environment.get(REPLY_LIMIT, "").strip()
    return (int(text) if text.isascii() and text.isdecimal() else 0) or LARGEST_REPLY
