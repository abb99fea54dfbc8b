"""Check regularly that the state folder and the agents' directories can be written.

A handoff needs both, and free file descriptors. A problem is shown as *needs you*, with a way to
fix the problem. Problems with the supervisor's socket (`api/socket.py`) are shown in the same way.
Writes only to test a database that could not be written.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial

from cockpit.adapters.files.writable import Obstacle, obstacle
from cockpit.adapters.process.descriptors import out_of_descriptors
from cockpit.core.errors import OsProblem
from cockpit.core.safetext import safe_line
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Dependencies

LOOK = 5.0
"""Seconds between two checks of all folders; each check is one `statvfs` and one `access` per
folder."""


class DiskMonitor:
    """Checks all folders that must be writable."""

    def __init__(
        self, dependencies: Dependencies, agents: Iterable[Agent], changed: Callable[[Agent], None]
    ) -> None:
        self._dependencies = dependencies
        self._agents = agents
        self._changed = changed
        self.trouble: str | None = None
        """The supervisor's own problem and how to fix it; None if there is none."""
        self._unreachable: str | None = None

    async def run(self) -> None:
        """Check all folders, until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(LOOK)

    def set_unreachable(self, why: str | None) -> None:
        """Set the reason why the socket is unreachable, or None.

        Shown after the next check, unless there is a more urgent problem.
        """
        self._unreachable = why

    async def look(self) -> None:
        """Check all folders, and set the problem of each agent. Idempotent."""
        state = self._dependencies.places.state
        living = {("directory", agent.name): agent for agent in self._agents if agent.alive}
        looks = {key: partial(obstacle, agent.directory) for key, agent in living.items()}
        obstacles = await self._dependencies.slow.each(
            {("state", ""): partial(obstacle, state), **looks}
        )
        of_state = self._of_state(obstacles.pop(("state", "")))
        self.trouble = _of_descriptors() or of_state or self._unreachable
        for agent in self._agents:
            own = obstacles.get(("directory", agent.name))
            if agent.troubles.writing != (trouble := self.trouble or _of_directory(agent, own)):
                agent.troubles.writing = trouble
                self._changed(agent)

    def _of_state(self, obstacle: Obstacle | Exception | None) -> str | None:
        state = safe_line(str(self._dependencies.places.state), 200)
        if isinstance(obstacle, Obstacle):
            return (
                f"cockpit cannot write its state: {state} {obstacle.why}."
                f" {safe_line(obstacle.remedy)}. Handoffs wait until the problem is fixed"
            )
        store = self._dependencies.store
        if store.refused is None:
            return None
        with suppress(OsProblem):
            store.try_to_write()
        if store.refused is None:
            return None
        why = safe_line(store.refused, 300).rstrip(".")
        return (
            f"cockpit cannot write its state: {why}. Check the disk's free space and the quota:"
            f" df -h {state}. Handoffs wait until the problem is fixed"
        )


def _of_descriptors() -> str | None:
    if not out_of_descriptors():
        return None
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return (
        f"cockpit has no file descriptor left ({most} allowed), so commands cannot connect. Close"
        " connected screens and scripts, or raise the limit and restart cockpit: ulimit -n 4096;"
        " cockpit down; cockpit up"
    )


def _of_directory(agent: Agent, obstacle: Obstacle | Exception | None) -> str | None:
    """Return why an agent's directory cannot be written; None if it can, or if that is unknown."""
    if not agent.alive or not isinstance(obstacle, Obstacle):
        return None
    place = safe_line(str(agent.directory), 200)
    return (
        f"the directory {place} {obstacle.why}, so no handoff document can be written there."
        f" {safe_line(obstacle.remedy)}"
    )
