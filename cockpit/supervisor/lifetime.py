"""The flags that the supervisor is ending or has ended."""

from __future__ import annotations

import asyncio


class Lifetime:
    """The state of one supervisor, which `cockpit down` and signals end."""

    def __init__(self) -> None:
        self.ending = False
        """Asked to end: no agent is started any more."""
        self.ended = asyncio.Event()
        """Set to end the process."""
