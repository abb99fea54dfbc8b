"""Ask whether to leave the screen."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from cockpit.core.errors import CockpitError
from cockpit.tui.screens.confirm import ConfirmScreen
from cockpit.tui.state.background import in_background

LOOK = 1.0
"""Seconds between two checks whether a terminal is attached."""


class LeaveQuestion(ConfirmScreen):
    """The question whether to leave.

    Closes with the answer no once no terminal is attached, because the user of the next terminal
    did not ask to leave.
    """

    def __init__(self, words: str, attached: Callable[[], Awaitable[int]] | None) -> None:
        """`attached` returns the number of attached terminals.

        None if the screen runs in a terminal of its own.
        """
        super().__init__("Leave cockpit?", words, "leave")
        self._attached = attached

    def on_mount(self) -> None:
        if self._attached is not None:
            in_background(self, self._close_when_lost)

    async def _close_when_lost(self) -> None:
        assert self._attached is not None
        is_lost = False
        while not (is_lost and self.is_active):
            await asyncio.sleep(LOOK)
            try:
                is_lost = is_lost or not await self._attached()
            except CockpitError:
                return  # Keep the question open, because a terminal may be attached.
        self.dismiss(False)
