"""Run the supervisor's endless tasks, and restart tasks that fail.

Each task serves all agents, so an error with one agent must not end the task for the others.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from cockpit.core.safetext import safe_line

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Minimum and maximum seconds before a failed task restarts. Each failure doubles the wait."""

_log = logging.getLogger(__name__)


class Loops:
    """Runs the endless tasks of one supervisor."""

    def __init__(self) -> None:
        self._failed: dict[str, str] = {}

    @property
    def trouble(self) -> str | None:
        """A message about the tasks that failed, until each has run for a minute again; else
        None."""
        return "; ".join(self._failed.values()) or None

    async def run(self, name: str, loop: Callable[[], Awaitable[None]]) -> None:
        """Run `loop` until cancelled, and again after each failure. `name` is for messages."""
        wait = FIRST_WAIT
        while True:
            settled = asyncio.get_running_loop().call_later(
                LONGEST_WAIT, self._failed.pop, name, None
            )
            began = asyncio.get_running_loop().time()
            try:
                await loop()
                return
            except Exception as bug:  # noqa: BLE001 - a task that serves all agents must continue
                if asyncio.get_running_loop().time() - began > LONGEST_WAIT:
                    wait = FIRST_WAIT
                _log.exception("%s failed; restarting in %.0f s", name, wait)
                self._failed[name] = safe_line(
                    f"{name} failed ({bug!r}); cockpit restarts it automatically; see the log", 200
                )
            finally:
                settled.cancel()
            await asyncio.sleep(wait)
            wait = min(wait * 2, LONGEST_WAIT)
