"""What keeps an agent from being watched or kept as it should, for its row."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Troubles:
    """One trouble of each kind, in words; None where there is none. Each has one writer."""

    watching: str | None = None
    """A bug or failure in watching this one agent. Written by `observe/watch.py`."""
    writing: str | None = None
    """Why nothing can be written for it, with the remedy. Written by `observe/disk_monitor.py`."""
    dialog: str | None = None
    """What the pane shows instead of starting: a trust or login dialog."""
    worktree: str | None = None
    """That its worktree is gone while it works there, and what to do."""
    interrupted: str | None = None
    """How the machine, or the tmux server, ended its last session; None once another began."""
    stop_unwritten: bool = False
    """The user stopped it, and a full disk did not take that. Written by `sessions/stop.py`."""
    hooks: dict[str, str] = field(default_factory=dict)
    """How hooks and deliveries went wrong the last time, each until it goes well."""
