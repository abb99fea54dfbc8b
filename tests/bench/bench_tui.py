"""What the screen alone costs: bytes to the terminal, processor, memory, and how soon it answers.

The supervisor is in memory, so every figure is the screen's own. `bench_supervisor` measures the
whole, and `bench_peers` others beside it.
"""

from __future__ import annotations

import os
import re
import statistics
import sys
import time

from tests.bench.processes import resident
from tests.bench.rows import percentile, row
from tests.bench.terminal import Terminal

WARM_SECONDS = 2.0
KEYS = 60
USUAL, WIDE = (40, 120), (60, 200)
"""Rows and columns: the pane below the list, and beside it with every column there is."""
MOVED = re.compile(rb"\x1b\[\d+;[12]H(?:\x1b\[[\d;]*m)*\xe2\x96\x8c")
"""The mark of the selection, drawn at the beginning of a line, or right of the panel's border."""


def screen(
    agents: int,
    each: float,
    refresh: str = "auto",
    *,
    hosts: int = 1,
    size: tuple[int, int] = USUAL,
) -> Terminal:
    """The application over so many agents with so many events a second each; drawn."""
    told = [str(agents), str(each), refresh, str(hosts)]
    argv = [sys.executable, "-m", "tests.bench.fleet_in_memory", *told]
    terminal = Terminal(argv, os.environ, size=size)
    terminal.until([b"agent-00"])
    return terminal


def watch(
    what: str,
    agents: int,
    each: float,
    refresh: str = "auto",
    *,
    hosts: int = 1,
    size: tuple[int, int] = USUAL,
    kilobytes: float | None = None,
) -> None:
    with screen(agents, each, refresh, hosts=hosts, size=size) as terminal:
        terminal.drained(WARM_SECONDS)
        rate, share = terminal.watched(lambda: [terminal.pid])
        row(f"{what}: bytes to the terminal", rate / 1e3, "KB/s", at_most=kilobytes)
        row(f"{what}: processor", share, "%")


def answers(what: str, each: float) -> None:
    """From a key to the moved mark, whatever else is drawn meanwhile."""
    with screen(100, each) as terminal:
        terminal.drained(WARM_SECONDS)
        times = [moved(terminal, b"j" if n % 20 < 10 else b"k") for n in range(KEYS)]
        row(f"{what}: key to screen, p95", percentile(times, 0.95), "ms", at_most=16)
        row(f"{what}: key to screen, median", statistics.median(times), "ms")


def moved(terminal: Terminal, key: bytes) -> float:
    """Milliseconds until the mark of the selection stands elsewhere."""
    terminal.drained(0.07)
    seen, begun = b"", time.monotonic()
    terminal.press(key)
    while not MOVED.search(seen):
        if time.monotonic() > begun + 5:
            raise TimeoutError(f"the selection never moved: {seen[-300:]!r}")
        seen += terminal.read(0.5)
    return 1000 * (time.monotonic() - begun)


def memory() -> None:
    """With 100 agents at work, the agent's own screen and a long history opened and left again."""
    with screen(100, 2, size=WIDE) as terminal:
        terminal.drained(WARM_SECONDS)
        for key in (b"o", b"\x1b", b"H", b"\x1b", b"j", b"j"):
            terminal.press(key)
            terminal.drained(0.5)
        row("100 busy agents, history seen: memory", resident([terminal.pid]), "MB", at_most=80)


if __name__ == "__main__":
    watch("50 idle agents", 50, 0, kilobytes=0)
    watch("50 busy agents", 50, 2, kilobytes=8)
    watch("50 busy agents, low", 50, 2, "low", kilobytes=2)
    watch("50 busy agents, pane beside", 50, 2, size=WIDE, kilobytes=8)
    watch("50 busy agents, pane beside, low", 50, 2, "low", size=WIDE, kilobytes=2)
    watch("50 busy agents on 3 hosts, pane beside", 50, 2, hosts=3, size=WIDE, kilobytes=8)
    watch("50 busy agents on 3 hosts, low", 50, 2, "low", hosts=3, size=WIDE, kilobytes=2)
    memory()
    answers("100 idle agents", 0)
    answers("100 busy agents", 2)
