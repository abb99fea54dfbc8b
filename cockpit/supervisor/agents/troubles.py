"""Problems of an agent, which the screen shows on the agent's row."""

from __future__ import annotations

from dataclasses import field

from cockpit.core.deferred_dataclass import dataclass


@dataclass(slots=True)
class Troubles:
    """An agent's current problems by kind. A kind without a problem is None, empty or False."""

    failed: dict[str, str] = field(default_factory=dict)
    """For each part of the supervisor's work for this agent, why the part failed the last time.
    Removed when the part succeeds, or when another session begins."""
    writing: str | None = None
    """The supervisor's own problem, such as a full disk, or why the agent's directory cannot be
    written, and how to fix it. Written by `observe/disk_monitor.py`."""
    dialog: str | None = None
    """The trust or login dialog that the pane shows instead of the started session."""
    worktree: str | None = None
    """The message that the agent is running but its worktree is missing, and how to fix it."""
    interrupted: str | None = None
    """The message that a reboot or a tmux exit interrupted the last session; None after another
    session began."""
    shared: str | None = None
    """The message that the agent's CLI opened a session that another agent has open. Written by
    `sessions/session_changes.py`, and cleared by `sessions/lifecycle.py`."""
    stop_unwritten: bool = False
    """Whether a stop by the user could not be saved yet. Written by `sessions/stop.py`."""
    hooks: dict[str, str] = field(default_factory=dict)
    """For each hook or message delivery, the last error, newest last; removed after a success."""

    def fail(self, part: str, message: str) -> bool:
        """Set why a part of the supervisor's work failed; return whether the message is new."""
        is_new = self.failed.get(part) != message
        self.failed[part] = message
        return is_new

    def succeed(self, part: str) -> bool:
        """Remove the message of a part; return whether there was one."""
        return self.failed.pop(part, None) is not None

    def fail_hook(self, hook: str, message: str) -> None:
        """Set why a hook or message delivery failed, as the newest error."""
        self.hooks.pop(hook, None)
        self.hooks[hook] = message

    def succeed_hook(self, hook: str) -> None:
        """Remove the error of a hook or message delivery, if there is one."""
        self.hooks.pop(hook, None)

    def begin_session(self) -> None:
        """Clear `failed`, which is about the previous session. Idempotent."""
        self.failed.clear()
