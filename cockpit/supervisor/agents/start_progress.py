"""How far the start of an agent is. Written by `sessions/`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class StartProgress:
    """A start that is under way; nothing here outlives it."""

    under_way: bool = False
    """Its process may not be there yet."""
    hooks_run: bool = False
    """A session is about to be started here, once the hooks before it have run."""
    setup: str | None = None
    """How far the setup of its new worktree is, in words; the agent is started after it."""
