"""Keep the commits of handed-off sessions in git, even if their branch is deleted.

Runs in the background. An error does not affect the handoff.
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
"""Kind of the event that is recorded after the old session has ended and before the new session
starts: the new session has not changed the worktree yet."""

_log = logging.getLogger(__name__)


class CommitRefs:
    """Keeps the commits of handed-off sessions, for agents with a worktree."""

    def __init__(
        self, dependencies: Dependencies, spawn: Callable[[Coroutine[Any, Any, None]], None]
    ) -> None:
        self._dependencies = dependencies
        self._spawn = spawn

    def handle(self, record: EventRecord, agent: Agent | None) -> None:
        """When a handoff ends a session (`WHEN`), start a task that keeps the session's commits.

        Runs in the event's transaction; does not block.
        """
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
