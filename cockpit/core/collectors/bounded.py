"""Keep the newest entries of a dict, so that a long session does not need more memory."""

from __future__ import annotations

from itertools import islice
from typing import TypeVar

V = TypeVar("V")

PENDING_KEPT = 500
"""Default number of entries: the maximum of `remember`, the minimum of `remember_call`."""


def remember(kept: dict[str, V], key: str, value: V, limit: int = PENDING_KEPT) -> None:
    """Set an entry, and remove the oldest entries above `limit`."""
    kept[key] = value
    while len(kept) > limit:
        del kept[next(iter(kept))]


def remember_call(kept: dict[str, V], ident: str, value: V, least: int = PENDING_KEPT) -> None:
    """Set the entry of a tool call. Above twice `least` entries, keep only the newest `least`.

    Removing many entries at once is faster. When a reader skims a transcript, most entries are
    removed in this way, because the reader leaves out the results of most calls.
    """
    kept[ident] = value
    if len(kept) > 2 * least:
        for oldest in [*islice(kept, len(kept) - least)]:
            del kept[oldest]
