"""Flags for a supervisor that is shutting down or has ended."""

from __future__ import annotations

import asyncio


class Lifetime:
    """The shutdown state of one supervisor."""

    def __init__(self) -> None:
        self.ending = False
        """Whether `cockpit down` is in progress: no agent is started meanwhile. False again if
        `cockpit down` fails. Signals do not set this flag."""
        self.ended = asyncio.Event()
        """Set by `cockpit down` and by signals, to end the process."""
