"""The state of an agent's start. Written by `sessions/`."""

from __future__ import annotations

from cockpit.core.deferred_dataclass import dataclass


@dataclass(slots=True)
class StartProgress:
    """How far an agent's start has got. Kept in memory only."""

    under_way: bool = False
    """Whether the agent is being started; its process may not exist yet."""
    hooks_run: bool = False
    """Whether the hooks before a session, or the setup of the worktree, are running. The session
    starts afterwards."""
    setup: str | None = None
    """Message about the running setup of the agent's worktree; None if no setup is running. The
    agent starts after the setup."""
