"""A page of the history: some chains, how many handoffs there are, and where older ones begin."""

from __future__ import annotations

from typing import Any

from cockpit.wire.status import Wire


class HistoryPage(Wire):
    """The answer to `/v1/history?handoffs=N` and to `/v1/history?limit=N`."""

    chains: list[dict[str, Any]]
    """As in `cockpit history --json`; with `handoffs=N` each has the handoffs of this page alone.

    The chain itself says nothing of its other handoffs then: `handoffs` and `rebuilt` are left out.
    """
    next: str | None = None
    """The `before` of the page with older ones. Opaque; None on the last page."""
    total: int = 0
    """Handoffs of all pages together."""
