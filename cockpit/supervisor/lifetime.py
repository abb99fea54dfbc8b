"""Flags for a supervisor that is shutting down or has ended."""

from __future__ import annotations

import asyncio


class Lifetime:
    """The shutdown state of one supervisor, set by `cockpit down` and by signals."""

    def __init__(self) -> None:
        self.ending = False
        """True once shutdown is requested; no agent is started after that."""
        self.ended = asyncio.Event()
        """Set this event to end the process."""
