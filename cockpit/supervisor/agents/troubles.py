"""Problems of an agent that its row shows."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Troubles:
    """At most one problem of each kind, in words; None without one. Each has one writer."""

    failed: dict[str, str] = field(default_factory=dict)
    """Part of the supervisor's work for this agent -> why it failed the last time; removed when it
    succeeds, or when another session begins."""
    writing: str | None = None
    """Why nothing can be saved for the agent, with the remedy. Written by
    `observe/disk_monitor.py`."""
    dialog: str | None = None
    """The trust or login dialog that the pane shows instead of starting."""
    worktree: str | None = None
    """The message that its worktree is missing while it runs, with the remedy."""
    interrupted: str | None = None
    """The message that the machine or the tmux server ended its last session; None once another one
    began."""
    shared: str | None = None
    """The message that its CLI opened a session that another agent has open. Written by
    `sessions/lifecycle.py`."""
    stop_unwritten: bool = False
    """A stop by the user could not be saved yet. Written by `sessions/stop.py`."""
    hooks: dict[str, str] = field(default_factory=dict)
    """Hook or delivery -> why it failed the last time; removed when it succeeds."""
