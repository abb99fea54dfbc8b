"""Keeps the index of documents up with what was sealed, so that every one can be searched.

Level-triggered: what is missing is found by comparing, so a document that was sealed while nobody
indexed is taken up the next time, and a handoff never waits for it. A paper that cannot be read
now is tried again.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

from cockpit.adapters.documents.files import Documents
from cockpit.adapters.files.foreign_files import is_file
from cockpit.adapters.store.search import SearchTable, Stale
from cockpit.core.errors import CockpitError, Hindered
from cockpit.core.front_matter import load
from cockpit.core.markdown import plain
from cockpit.supervisor.dependencies import Dependencies

LOOK = 60.0
"""Seconds between two looks; nothing that is sealed goes sooner, and a search looks by itself."""


class SearchIndex:
    """One supervisor's."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies
        self.table = SearchTable(dependencies.store)
        self._one_at_a_time = asyncio.Lock()

    async def run(self) -> None:
        """Take up what is missing now and then, for ever: a search finds little to do then."""
        while True:
            with suppress(Hindered):
                await self.catch_up()
            await self._dependencies.clock.sleep(LOOK)

    async def catch_up(self) -> None:
        """Take in every document that is not there as it was last sealed. Twice is as once.

        Raises `Hindered` when the disk does not take it.
        """
        async with self._one_at_a_time:
            for stale in self.table.stale():
                text = await asyncio.to_thread(_text_of, self._dependencies.documents, stale)
                if text is not None:
                    self.table.put(stale.handoff, stale.sha256, text)


def _text_of(documents: Documents, stale: Stale) -> str | None:
    """What a document says under its front matter, and whose it is; None if nobody has it."""
    archived = documents.copies.archived(stale.handoff)
    for path in (stale.copy, stale.document, archived):
        if path is None or not is_file(path):
            continue
        try:
            _, body = load(plain(documents.read_own(Path(path))))
        except CockpitError:
            continue
        return f"{stale.agent}\n{body}"
    return None
