"""End processes that the demo left running.

Recognises these processes by the path of the demo's folder in their environment.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from cockpit.adapters.process.process_table import mentions, pids

PATIENCE = 5.0
"""Maximum seconds to wait after SIGTERM, and again after SIGKILL."""


def end_leftovers(folder: Path) -> list[int]:
    """End all processes with the folder in their environment; return their pids."""
    asked = carriers(folder)
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in carriers(folder):
            send(pid, number)
        deadline = time.monotonic() + PATIENCE
        while carriers(folder) and time.monotonic() < deadline:
            time.sleep(0.05)
    return asked


def carriers(folder: Path) -> list[int]:
    mark = os.fsencode(f"{folder}/")
    return [pid for pid in pids() if pid != os.getpid() and mentions(pid, mark)]


def send(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process. Does nothing if the process has just ended."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
