"""What lies behind the fleet of the scene: chains of sessions with their handoffs, from memory.

Every number is made up, and none of it says that it happened.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from cockpit.wire.history import HistoryChain, HistoryHandoff, HistorySession

_GOALS = {
    "api": "Renew access tokens before they expire, and keep clients of version 1 working.",
    "search": "Index product names in three languages; the query must stay under 40 ms.",
    "importer": "Import the supplier's catalogue without a lock on the orders table.",
    "docs": "Describe every endpoint of the public API, with an example that runs.",
}


def handoff(
    ident: str, created: str, outcome: str | None = "done", **fields: Any
) -> HistoryHandoff:
    """One handoff as `history` says it."""
    usual = {
        "id": ident,
        "reason": "threshold",
        "created": created,
        "ended": None if outcome is None else created,
        "outcome": outcome,
        "why": None,
        "document": f"/srv/shop/.cockpit/handoffs/handoff-{ident}.md",
        "copy": f"/var/cockpit/handoffs/{ident}.md",
        "writer": "agent",
        "tokens_after": 41_000 if outcome == "done" else None,
    }
    return HistoryHandoff.model_validate({**usual, **fields})


def session(number: int, *handoffs: HistoryHandoff, **fields: Any) -> HistorySession:
    """One session of a chain, with what it left."""
    left = [each for each in handoffs if each.document]
    usual = {
        "id": f"5b0c2a9e-6d3f-4f1a-9b1e-{number:012}",
        "number": number,
        "state": "handed_off" if handoffs else "live",
        "document": left[-1].document if left else None,
        "documents": [],
        "handoffs": list(handoffs),
        "handoff": left[-1].id if left else None,
        "cost_usd": 0.4 + number / 10,
        "tokens": 138_000 + 4_000 * number,
    }
    return HistorySession.model_validate({**usual, **fields})


def chain(agent: str, *sessions: HistorySession, goal: str | None = None) -> HistoryChain:
    """One job."""
    return HistoryChain(
        agent=agent,
        job=f"job-{agent}",
        goal=_GOALS.get(agent, "") if goal is None else goal,
        handoffs=1,
        sessions=list(sessions),
    )


def chains(now: datetime | None = None) -> list[HistoryChain]:
    """Four jobs as of some time: some went well, one was refused, one is under way."""
    now = now or datetime.now(UTC)

    def ago(hours: float) -> str:
        return (now - timedelta(hours=hours)).isoformat(timespec="seconds")

    return [
        chain("importer", session(1, handoff("h-importer", ago(51), writer="facts"))),
        chain(
            "search",
            session(1, handoff("h-search-1", ago(27), tokens_after=38_500)),
            session(2, handoff("h-search-2", ago(4), writer="sdk")),
            session(
                3, handoff("h-search", ago(0.02), None, document=None, copy=None, writer=None)
            ),
        ),
        chain(
            "docs",
            session(
                1,
                handoff(
                    "h-docs", ago(9), "cancelled", document=None, copy=None, writer=None,
                    why="a prompt by the pilot came first",
                ),
            ),
        ),
        chain(
            "api",
            session(
                1,
                handoff("h-api-0", ago(7), "refused", tokens=131_000),
                handoff("h-api-1", ago(5.2), tokens_after=44_800),
            ),
            session(2, handoff("h-api", ago(0.04), None)),
        ),
    ]  # fmt: skip
