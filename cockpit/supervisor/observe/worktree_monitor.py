"""Notices that a worktree went away under its living agent, and tells it.

Makes nothing again: what was there is the user's to bring back or to give up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Dependencies

LOOK = 3.0
"""Seconds between two looks; each is one `stat` a worktree."""


class WorktreeMonitor:
    """Looks at the worktrees of all agents."""

    def __init__(
        self, dependencies: Dependencies, agents: Iterable[Agent], changed: Callable[[Agent], None]
    ) -> None:
        self._dependencies = dependencies
        self._agents = agents
        self._changed = changed

    async def run(self) -> None:
        """Look for ever."""
        while True:
            await self.look()
            await asyncio.sleep(LOOK)

    async def look(self) -> None:
        """Tell what is new about the worktrees. Idempotent."""
        watched = {
            ("worktree", agent.name): agent for agent in self._agents if self._is_watched(agent)
        }
        there = await self._dependencies.slow.each(
            {
                key: (Path(agent.record.worktree or "") / ".git").exists
                for key, agent in watched.items()
            }
        )
        for key, agent in watched.items():
            # A file system that hangs says nothing of what is there.
            if isinstance(there[key], bool):
                self._tell(agent, gone=not there[key])

    def _is_watched(self, agent: Agent) -> bool:
        if agent.record.worktree and agent.alive:
            return True
        agent.troubles.worktree = None
        return False

    def _tell(self, agent: Agent, *, gone: bool) -> None:
        place = agent.record.worktree
        if not place or gone == (agent.troubles.worktree is not None):
            return
        agent.troubles.worktree = words(agent, place) if gone else None
        if agent.troubles.worktree:
            text = f"{agent.name}: {agent.troubles.worktree}"
            self._dependencies.event_log.record("worktree.lost", text, agent.name, directory=place)
        else:
            self._dependencies.event_log.record(
                "worktree.back", f"{agent.name}: its worktree is there again", agent.name
            )
        self._changed(agent)


def words(agent: Agent, place: str) -> str:
    """What has happened, and the two ways on."""
    branch = f"; its branch is {agent.record.branch}" if agent.record.branch else ""
    return (
        f"its worktree {place} is gone{branch}. It is not created again: restore it, or"
        f" begin anew with cockpit stop {agent.name}, cockpit worktrees remove {place},"
        f" cockpit start {agent.name}"
    )
