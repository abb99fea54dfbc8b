"""Allow only one `cockpit move` of an agent at a time, with a lock on the agent's machine.

A step of the move holds the lock until the step's stdin is closed. So the lock is released as soon
as the command ends, even if the command is killed or loses its connection.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from cockpit.core.errors import NotNow
from cockpit.core.ids import AgentName
from cockpit.core.safetext import safe_line


def take_lock(folder: Path, name: AgentName, owner: str) -> None:
    """Lock the agent's moves until this process ends.

    `owner` describes this command in the errors of other commands. Raises `NotNow` if another
    command has the lock.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    handle = os.open(folder / f"{name}.lock", flags, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        other = safe_line(os.pread(handle, 400, 0).decode("utf-8", "replace"), 200)
        os.close(handle)
        raise NotNow(
            f"{name} is being moved by another command",
            f"Running now: {other or 'cockpit move'}",
            "Wait until the other command ends, or interrupt the command.",
        ) from None
    os.ftruncate(handle, 0)
    os.pwrite(handle, owner.encode("utf-8", "replace")[:400], 0)
