"""Report when the worktree of a running agent is missing, and when it is back.

Creates nothing: the user restores the worktree or starts over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

from cockpit.core.events import Plain, WorktreeLost
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Dependencies

LOOK = 3.0
"""Seconds between two checks of all worktrees; each check is one `stat` per worktree."""


class WorktreeMonitor:
    """Checks the worktrees of all running agents."""

    def __init__(
        self, dependencies: Dependencies, agents: Iterable[Agent], changed: Callable[[Agent], None]
    ) -> None:
        self._dependencies = dependencies
        self._agents = agents
        self._changed = changed

    async def run(self) -> None:
        """Check all worktrees, until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(LOOK)

    async def look(self) -> None:
        """Record worktrees that are newly missing, or exist again. Idempotent."""
        watched = {
            ("worktree", agent.name): agent for agent in self._agents if self._is_watched(agent)
        }
        exists = await self._dependencies.slow.each(
            {
                key: (Path(agent.record.worktree or "") / ".git").exists
                for key, agent in watched.items()
            }
        )
        for key, agent in watched.items():
            # A file system that hangs gives no answer.
            if isinstance(exists[key], bool):
                self._update(agent, missing=not exists[key])

    def _is_watched(self, agent: Agent) -> bool:
        if agent.record.worktree and agent.alive:
            return True
        agent.troubles.worktree = None
        return False

    def _update(self, agent: Agent, *, missing: bool) -> None:
        place = agent.record.worktree
        if not place or missing == (agent.troubles.worktree is not None):
            return
        agent.troubles.worktree = missing_text(agent, place) if missing else None
        if agent.troubles.worktree:
            text = f"{agent.name}: {agent.troubles.worktree}"
            self._dependencies.event_log.record(WorktreeLost(directory=place), text, agent.name)
        else:
            self._dependencies.event_log.record(
                Plain("worktree.back"), f"{agent.name}: the worktree exists again", agent.name
            )
        self._changed(agent)


def missing_text(agent: Agent, place: str) -> str:
    """Return a message that the worktree is missing, with two ways to fix it."""
    branch = f"; its branch is {agent.record.branch}" if agent.record.branch else ""
    return (
        f"the worktree {place} is missing{branch}. cockpit does not recreate it: restore it, or"
        f" start over with cockpit stop {agent.name}, cockpit worktrees remove {place},"
        f" cockpit start {agent.name}"
    )
