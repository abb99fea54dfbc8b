"""Keep the newest entries of a dict, so that a long session does not need more memory."""

from __future__ import annotations

from typing import TypeVar

V = TypeVar("V")

PENDING_KEPT = 500
"""Maximum tool calls without a result that one collector keeps."""


def remember(kept: dict[str, V], key: str, value: V, limit: int = PENDING_KEPT) -> None:
    """Set an entry, and remove the oldest entries above `limit`."""
    kept[key] = value
    while len(kept) > limit:
        del kept[next(iter(kept))]
