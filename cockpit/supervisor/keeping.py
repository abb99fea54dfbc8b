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
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.seat import Seat

WHEN = "handoff.starting"
"""The old session is gone, and the new one has not begun: what is checked out is all its work."""

_log = logging.getLogger(__name__)


class Keeping:
    """What is kept of the sessions of agents with a worktree."""

    def __init__(
        self, instruments: Instruments, spawn: Callable[[Coroutine[Any, Any, None]], None]
    ) -> None:
        self._in = instruments
        self._spawn = spawn

    def heard(self, record: EventRecord, seat: Seat | None) -> None:
        """Something happened; called while it is being written down, and never waits."""
        if record.kind != WHEN or seat is None or not seat.record.worktree:
            return
        old = (
            self._in.store.session(seat.handoff_record.old_session) if seat.handoff_record else None
        )
        if old is not None:
            label = f"{old.job[:8]}-{old.number}"
            self._spawn(self._keep(Path(seat.record.worktree), seat.name, label))

    async def _keep(self, worktree: Path, agent: str, label: str) -> None:
        try:
            await self._in.worktrees.keep(worktree, agent, label)
        except CockpitError as refused:
            _log.warning("%s: %s", agent, refused)
