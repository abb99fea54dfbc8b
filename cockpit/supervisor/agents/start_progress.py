"""The state of an agent's start. Written by `sessions/`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class StartProgress:
    """A start that is under way. Not stored."""

    under_way: bool = False
    """An agent is being started; its process may not exist yet."""
    hooks_run: bool = False
    """The hooks before a session are running; the session starts after them."""
    setup: str | None = None
    """Progress of the setup of its worktree, in words. The agent starts after it."""
