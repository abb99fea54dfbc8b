"""Read the decisions and constraints of chains from their documents; see `core.chain_memory`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cockpit.core.chain_memory import ChainMemory, Statement, fold
from cockpit.core.ids import JobId
from cockpit.core.search import holds_all
from cockpit.ports.records import SessionRecord
from cockpit.supervisor.agents.chain_documents import documents_before
from cockpit.supervisor.dependencies import Dependencies
from cockpit.wire.history import HistoryStatement

LED_NOWHERE = frozenset({"undone", "undoing", "failed"})
"""States of sessions that no later session of the job continues."""
MOST_KEPT = 50
"""Maximum number of cached memories."""


class ChainMemories:
    """Reads the memory of chains: the statements in their documents, in force or revoked.

    The documents before a session do not change, so the result is cached.
    """

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies
        self._kept: dict[str, ChainMemory] = {}

    async def before(self, session: SessionRecord) -> ChainMemory:
        """Return the memory of the chain when this session began, from the documents before it."""
        known = self._kept.get(session.id)
        if known is None:
            known = fold(await documents_before(self._dependencies, session))
            self._kept[session.id] = known
            while len(self._kept) > MOST_KEPT:
                del self._kept[next(iter(self._kept))]
        return known

    async def matching(self, job: JobId, wanted: Sequence[str]) -> list[HistoryStatement]:
        """Return the statements of a job's chain that contain all `wanted` words.

        Includes revoked statements.
        """
        chain = self._dependencies.store.chain(job)
        last = next(
            (session for session in reversed(chain) if session.state not in LED_NOWHERE), None
        )
        if last is None:
            return []
        memory = await self.before(last)
        statements = [listed(statement) for statement in memory.standing]
        statements += [listed(revoked.statement, str(revoked.by)) for revoked in memory.revoked]
        return [statement for statement in statements if holds_all(statement.text, wanted)]

    async def standing(self, session: SessionRecord | None) -> list[dict[str, Any]]:
        """Return the statements that hold for a session, as JSON data."""
        if session is None:
            return []
        memory = await self.before(session)
        return [
            {
                "section": statement.section,
                "text": statement.text,
                "since": str(statement.since),
                "last": str(statement.last),
            }
            for statement in memory.standing
        ]


def listed(statement: Statement, revoked_in: str | None = None) -> HistoryStatement:
    return HistoryStatement(
        section=statement.section,
        text=statement.text,
        since=str(statement.since),
        last=str(statement.last),
        revoked_in=revoked_in,
    )
