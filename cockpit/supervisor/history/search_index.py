"""Keep the search index of documents up to date.

Each update compares the index with the documents, so a handoff never waits for the index. A
document that cannot be read is tried again at the next update.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

from cockpit.adapters.documents.checked_reads import read_own
from cockpit.adapters.documents.files import Documents
from cockpit.adapters.files.foreign_files import is_file
from cockpit.adapters.store.search import SearchTable, Stale
from cockpit.core.errors import CockpitError, OsProblem
from cockpit.core.front_matter import load
from cockpit.core.markdown import plain
from cockpit.supervisor.dependencies import Dependencies

LOOK = 60.0
"""Seconds between two updates of the index. A search updates the index itself."""


class SearchIndex:
    """The search index of all handoff documents."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies
        self.table = SearchTable(dependencies.store)
        self._one_at_a_time = asyncio.Lock()

    async def run(self) -> None:
        """Update the index every `LOOK` seconds, until cancelled."""
        while True:
            with suppress(OsProblem):
                await self.catch_up()
            await self._dependencies.clock.sleep(LOOK)

    async def catch_up(self) -> None:
        """Index every document that is not indexed yet or was sealed again. Idempotent.

        Raises `OsProblem` on a disk error.
        """
        async with self._one_at_a_time:
            for stale in self.table.stale():
                text = await asyncio.to_thread(_text_of, self._dependencies.documents, stale)
                if text is not None:
                    self.table.put(stale.handoff, stale.sha256, text)


def _text_of(documents: Documents, stale: Stale) -> str | None:
    """Return the agent's name, and the document's text below the front matter.

    None if neither the document nor a copy can be read.
    """
    archived = documents.copies.archived(stale.handoff)
    for path in (stale.copy, stale.document, archived):
        if path is None or not is_file(path):
            continue
        try:
            _, body = load(plain(read_own(Path(path))))
        except CockpitError:
            continue
        return f"{stale.agent}\n{body}"
    return None
