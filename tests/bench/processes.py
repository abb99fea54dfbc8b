"""What processes cost, as the kernel counts it, and the end of those that a bench began."""

from __future__ import annotations

import os
import re
import shutil
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

PAGE = os.sysconf("SC_PAGESIZE")
DAEMON_FOLDER = re.compile(rb"/tmp/cc-daemon-\d+/[0-9a-f]+")
"""Where the CLI's own daemon keeps its sockets, whatever TMPDIR says."""


def family(pid: int) -> list[int]:
    """A process and everything that descends from it."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(one for child in children for one in family(int(child)))]


def spent(pids: Iterable[int]) -> float:
    """Seconds of processor so far, of the threads that live."""
    nanoseconds = 0
    for pid in pids:
        for thread in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            with suppress(OSError):
                nanoseconds += int(thread.read_text().split()[0])
    return nanoseconds / 1e9


def resident(pids: Iterable[int]) -> float:
    """Megabytes in memory; what two of them share is counted twice."""
    total = 0
    for pid in pids:
        with suppress(OSError):
            total += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return total * PAGE / 1e6


def proportional(pids: Iterable[int]) -> float:
    """Megabytes in memory; what is shared is divided among those who share it."""
    total = 0
    for pid in pids:
        with suppress(OSError):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total * 1024 / 1e6


def command_line(pid: int) -> bytes:
    """Its words with spaces between them; nothing when it is gone."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
    return b""


def marked(mark: str) -> list[int]:
    """Our processes that have this in their environment, but for this one and its parents."""
    own = {os.getpid(), os.getppid()}
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if int(entry.name) not in own and mark.encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
    return found


def end_marked(mark: str) -> int:
    """End what carries the mark, and the sockets of a daemon among it; how many there were."""
    ended: set[int] = set()
    folders: set[bytes] = set()
    while left := [pid for pid in marked(mark) if pid not in ended]:
        for pid in left:
            folders.update(DAEMON_FOLDER.findall(command_line(pid)))
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        ended.update(left)
        time.sleep(0.05)
    for folder in folders:
        shutil.rmtree(os.fsdecode(folder), ignore_errors=True)
    return len(ended)
