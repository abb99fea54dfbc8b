"""A page of the history: chains, the number of handoffs, and the position of the next page."""

from __future__ import annotations

from typing import Any

from cockpit.wire.status import Wire


class HistoryPage(Wire):
    """The answer to `/v1/history?handoffs=N` and to `/v1/history?limit=N`."""

    chains: list[dict[str, Any]]
    """As in `cockpit history --json`; with `handoffs=N` each has only the handoffs of this page.

    Then the fields of a chain that count all its handoffs (`handoffs`, `rebuilt`) are left out.
    """
    next: str | None = None
    """The `before` of the next page, with older handoffs. Opaque; None on the last page."""
    total: int = 0
    """Handoffs of all pages together."""
