"""Processes that a flight has left behind, found by its folder in their environment."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

PATIENCE = 5.0
"""Seconds between asking and forcing."""


def end_leftovers(folder: Path) -> list[int]:
    """End whatever still carries the folder in its environment; answers who had to be asked."""
    asked = carriers(folder)
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in carriers(folder):
            send(pid, number)
        deadline = time.monotonic() + PATIENCE
        while carriers(folder) and time.monotonic() < deadline:
            time.sleep(0.05)
    return asked


def carriers(folder: Path) -> list[int]:
    """Processes, ours left out, whose environment names the folder."""
    mark = os.fsencode(f"{folder}/")
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            # It ended meanwhile, or belongs to somebody else.
            continue
    return [pid for pid in found if pid != os.getpid()]


def send(pid: int, number: signal.Signals) -> None:
    """Signal a process that may just have ended."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
