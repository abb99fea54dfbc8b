"""Has git keep the commits of a session that was handed off, also if their branch is deleted.

Beside the handoff: it waits for nothing here, and does not fail by it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from cockpit.core.errors import CockpitError
from cockpit.ports.records import EventRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Dependencies

WHEN = "handoff.starting"
"""The old session is gone, and the new one has not begun: what is checked out is all its work."""

_log = logging.getLogger(__name__)


class CommitRefs:
    """What is kept of the sessions of agents with a worktree."""

    def __init__(
        self, dependencies: Dependencies, spawn: Callable[[Coroutine[Any, Any, None]], None]
    ) -> None:
        self._dependencies = dependencies
        self._spawn = spawn

    def heard(self, record: EventRecord, agent: Agent | None) -> None:
        """Something happened; called while it is being written down, and never waits."""
        if record.kind != WHEN or agent is None or not agent.record.worktree:
            return
        old = (
            self._dependencies.store.session(agent.handoff_record.old_session)
            if agent.handoff_record
            else None
        )
        if old is not None:
            label = f"{old.job[:8]}-{old.number}"
            self._spawn(self._keep(Path(agent.record.worktree), agent.name, label))

    async def _keep(self, worktree: Path, agent: str, label: str) -> None:
        try:
            await self._dependencies.worktrees.keep(worktree, agent, label)
        except CockpitError as refused:
            _log.warning("%s: %s", agent, refused)
