"""Whether the supervisor goes on: asked to end, and ended."""

from __future__ import annotations

import asyncio


class Lifetime:
    """Of one supervisor. `cockpit down` and signals end it."""

    def __init__(self) -> None:
        self.ending = False
        """It was told to end: nothing is started any more."""
        self.ended = asyncio.Event()
        """Set when it is over."""
