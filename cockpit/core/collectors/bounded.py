"""Keep the newest entries of a dict, so that a long session does not need more memory."""

from __future__ import annotations

from itertools import islice
from typing import TypeVar

V = TypeVar("V")

PENDING_KEPT = 500
"""By default, `remember` keeps at most this number of entries, and `remember_call` at least."""


def remember(kept: dict[str, V], key: str, value: V, limit: int = PENDING_KEPT) -> None:
    """Set an entry, and remove the oldest entries above `limit`."""
    kept[key] = value
    while len(kept) > limit:
        del kept[next(iter(kept))]


def remember_call(kept: dict[str, V], ident: str, value: V, least: int = PENDING_KEPT) -> None:
    """Set the entry of a tool call, and sometimes remove the oldest entries.

    The newest `least` entries always stay, and never more than twice as many: to remove several at
    once is faster, and a reader that skims a transcript leaves most calls without a result.
    """
    kept[ident] = value
    if len(kept) > 2 * least:
        for oldest in [*islice(kept, len(kept) - least)]:
            del kept[oldest]
