"""Wait for a process to end, without using an event loop."""

from __future__ import annotations

import os
import select
import time

from cockpit.adapters.process import process_table
from cockpit.config.kernel import USES_LINUX

_POLL_SECONDS = 0.02


def wait_for_exit(pid: int, seconds: float) -> bool:
    """Wait until the process that currently has this pid has ended; return whether it has.

    Does not reap a child of this process. Blocks for at most `seconds`.
    """
    if not USES_LINUX:
        return poll_for_exit(pid, seconds)
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    except OSError:  # a kernel without pidfds
        return poll_for_exit(pid, seconds)
    try:
        return bool(select.select([handle], [], [], seconds)[0])
    finally:
        os.close(handle)


def poll_for_exit(pid: int, seconds: float) -> bool:
    """Like `wait_for_exit`, by polling.

    Compares the start time too, because another process may get the pid.
    """
    first = process_table.entry(pid)
    deadline = time.monotonic() + seconds
    while first is not None and not first.ended:
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL_SECONDS)
        now = process_table.entry(pid)
        if now is None or now.ended or now.started != first.started:
            return True
    return True
