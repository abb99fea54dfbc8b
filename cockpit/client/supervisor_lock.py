"""Explain why nothing listens on a local supervisor's socket.

Either no supervisor is running, or a supervisor holds the lock of the state folder and is
unreachable. Imports only the standard library, `core` and small modules, because the commands that
must start quickly use this module.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from cockpit.client.refusals import not_running, unreachable
from cockpit.config.kernel import USES_LINUX
from cockpit.config.paths import Places
from cockpit.core.errors import NoSupervisor


def no_listener(socket: Path) -> NoSupervisor:
    """Return the error when nothing listens on the socket; `Unreachable` if a supervisor holds the
    lock."""
    places = Places.of(os.environ)
    if places.socket == socket and (pid := lock_holder(places.lease)) is not None:
        return unreachable(socket, pid)
    return not_running(socket)


def lock_holder(lease: Path) -> int | None:
    """Return the pid of the process that holds the supervisor's lock; None if none or unknown.

    On Linux, reads the kernel's list of locks. On other systems, tries to take the lock. If this
    succeeds, a supervisor that starts at the same moment refuses to run. Therefore tries this only
    if the lock file has the pid of an existing process: that process is almost always the holder.
    """
    try:
        handle = os.open(lease, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            pid, inode = int(os.read(handle, 20)), os.fstat(handle).st_ino
            held = _is_listed(pid, inode) if USES_LINUX else _is_held(pid, handle)
        finally:
            os.close(handle)
    except (OSError, ValueError):
        return None
    return pid if held else None


def process_exists(pid: int) -> bool:
    """Return whether a process with this pid exists, including zombies and other users'
    processes."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _is_held(pid: int, handle: int) -> bool:
    if not process_exists(pid):
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _is_listed(pid: int, inode: int) -> bool:
    locks = Path("/proc/locks").read_text().splitlines()
    # 1: FLOCK  ADVISORY  WRITE 359 00:13:11691 0 EOF
    entries = (line.split()[1:6] for line in locks)
    wanted = ["FLOCK", "ADVISORY", "WRITE", str(pid)]
    return any(entry[:4] == wanted and entry[4].endswith(f":{inode}") for entry in entries)
