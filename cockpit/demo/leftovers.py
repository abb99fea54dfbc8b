"""End processes that a flight left running; they have its folder in their environment."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from cockpit.adapters.process.process_table import mentions, pids

PATIENCE = 5.0
"""Seconds between SIGTERM and SIGKILL."""


def end_leftovers(folder: Path) -> list[int]:
    """End all processes with the folder in their environment; returns their pids."""
    asked = carriers(folder)
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in carriers(folder):
            send(pid, number)
        deadline = time.monotonic() + PATIENCE
        while carriers(folder) and time.monotonic() < deadline:
            time.sleep(0.05)
    return asked


def carriers(folder: Path) -> list[int]:
    """Pids of processes with the folder in their environment, without this process."""
    mark = os.fsencode(f"{folder}/")
    return [pid for pid in pids() if pid != os.getpid() and mentions(pid, mark)]


def send(pid: int, number: signal.Signals) -> None:
    """Signal a process; one that has just ended is ignored."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
