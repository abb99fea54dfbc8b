"""The part of the history that the screen has loaded, page by page, newest first."""

from __future__ import annotations

from cockpit.client.client import Client
from cockpit.wire.history import HistoryChain, HistoryPage

PAGE = 100
"""Handoffs per request."""


class LoadedHistory:
    """The loaded chains, and the position of the next page."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.chains: list[HistoryChain] = []
        """The loaded chains, newest first."""
        self.agent: str | None = None
        """The agent whose history is loaded; None for all agents."""
        self.total = 0
        """The number of handoffs on all pages, loaded or not; 0 for a search."""
        self.wanted = PAGE
        """The number of handoffs to load."""
        self._older: str | None = None
        self._loads = 0

    @property
    def is_complete(self) -> bool:
        """Whether no older page is left."""
        return self._older is None

    @property
    def handoffs(self) -> int:
        """The number of loaded handoffs."""
        return _handoffs(self.chains)

    async def load(self, searched: str, agent: str | None) -> None:
        """Load the list again: at least `wanted` handoffs, or all if there are fewer.

        With `searched`, loads all matches instead. Raises `CockpitError`.
        """
        if searched:
            page = HistoryPage(chains=await self._client.history(agent, searched))
        else:
            page = await self._client.history_page(PAGE, None, agent)
        chains = page.chains
        while page.chains and page.next is not None and _handoffs(chains) < self.wanted:
            page = await self._client.history_page(PAGE, page.next, agent)
            chains = [*chains, *page.chains]
        self.agent = agent
        self.chains, self._older, self.total = chains, page.next, page.total
        self._loads += 1

    async def load_older(self) -> bool | None:
        """Load older pages until `wanted` handoffs are loaded. Raises `CockpitError`.

        Returns whether the last page had handoffs; None, without a change, if the list was loaded
        again before the pages arrived.
        """
        begun, chains, older = self._loads, self.chains, self._older
        agent, total, added = self.agent, self.total, True
        while added and older is not None and _handoffs(chains) < self.wanted:
            page = await self._client.history_page(PAGE, older, agent)
            if self._loads != begun:
                return None
            chains, older, total = [*chains, *page.chains], page.next, page.total
            added = bool(page.chains)
        self.chains, self._older, self.total = chains, older, total
        return added


def _handoffs(chains: list[HistoryChain]) -> int:
    return sum(len(session.handoffs) for chain in chains for session in chain.sessions)
