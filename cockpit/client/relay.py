"""Forward requests to a supervisor unchanged, for `cockpit serve`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from cockpit.client.connection import Address
from cockpit.client.exchange import Exchange
from cockpit.client.http import REMOVAL_SECONDS, STATE_SECONDS


@dataclass(frozen=True, slots=True)
class RelayedAnswer:
    """The supervisor's response, unchanged."""

    status: int
    headers: Mapping[str, str]
    """The response's headers, with names in lower case."""
    blocks: AsyncIterator[bytes]
    """The response's body as it arrives. Raises `NoSupervisor` if the connection is lost."""


class Relay:
    """Forwards requests to one supervisor."""

    def __init__(self, address: Path | Address) -> None:
        self._address = address

    @asynccontextmanager
    async def ask(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> AsyncIterator[RelayedAnswer]:
        """Send a request. Read the response's body inside the `async with` block.

        Raises `NoSupervisor`, and `BadUsage` for an invalid HTTP request.
        """
        exchange = await Exchange.open(self._address, STATE_SECONDS)
        try:
            # The longest time limit of all verbs, because the relay does not know the verb.
            patience = REMOVAL_SECONDS
            try:
                async with asyncio.timeout(patience):
                    await exchange.send(method, target, body, headers)
                    head = await exchange.head()
            except TimeoutError:
                raise exchange.silent(patience) from None
            received = {name.decode("ascii"): text.decode("latin-1") for name, text in head.headers}
            yield RelayedAnswer(head.status_code, received, exchange.blocks())
        finally:
            await exchange.close()
