"""Read this machine's number of cores, load and free memory."""

from __future__ import annotations

import os
import re
from pathlib import Path

from cockpit.config.kernel import USES_LINUX


def cores() -> int | None:
    """Return the number of cores that this process may use; None if unknown."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def load() -> float | None:
    """Return the load average of the last minute; None if unknown."""
    try:
        return os.getloadavg()[0]
    except OSError:
        return None


def free_memory() -> int | None:
    """Return the bytes that new programs can use without swapping; None if unknown."""
    if not USES_LINUX:
        import psutil  # type: ignore[import-untyped]

        return int(psutil.virtual_memory().available)
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    match = re.search(r"^MemAvailable: *(\d+) kB$", text, re.MULTILINE)
    return int(match[1]) * 1024 if match else None
