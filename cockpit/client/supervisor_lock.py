"""Explain why nothing listens on a local supervisor's socket.

Either no supervisor runs, or one holds the lock of the state folder and is unreachable. Standard
library, `core` and `config.paths` only: the fast path uses this module.
"""

from __future__ import annotations

import os
from pathlib import Path

from cockpit.client.refusals import not_running, unreachable
from cockpit.config.paths import Places
from cockpit.core.errors import NoSupervisor


def no_listener(socket: Path) -> NoSupervisor:
    """Return the error when nothing listens on the socket; `Unreachable` if a supervisor runs."""
    places = Places.of(os.environ)
    if places.socket == socket and (pid := lock_holder(places.lease)) is not None:
        return unreachable(socket, pid)
    return not_running(socket)


def lock_holder(lease: Path) -> int | None:
    """Return the process that holds the supervisor's lock, from the kernel's list of locks.

    Trying the lock instead would hold it for a moment, and a supervisor starting in that moment
    would refuse to run. None also where the list cannot be read.
    """
    try:
        handle = os.open(lease, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            pid, inode = int(os.read(handle, 20)), os.fstat(handle).st_ino
        finally:
            os.close(handle)
        locks = Path("/proc/locks").read_text().splitlines()
    except (OSError, ValueError):
        return None
    # 1: FLOCK  ADVISORY  WRITE 359 00:13:11691 0 EOF
    held = (line.split()[1:6] for line in locks)
    wanted = ["FLOCK", "ADVISORY", "WRITE", str(pid)]
    same = (one for one in held if one[:4] == wanted and one[4].endswith(f":{inode}"))
    return pid if any(same) else None
