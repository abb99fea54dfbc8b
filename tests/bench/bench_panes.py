"""What panes cost: looking, capturing, going in and back, and from the old process to the new.

The named peer is libtmux on the same server, where it can do the same thing.
"""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import libtmux

from cockpit.adapters.tmux.panes import Tmux
from cockpit.adapters.tmux.views import TmuxViews
from cockpit.core.sgr import PLAIN, runs
from cockpit.ports.panes import Launch, Pane
from tests.bench.rows import percentile, row

PANES = 50
RUNS = 30
MARKER = "bench-panes"
AGENT = (
    "i=0; while [ $i -lt 45 ]; do i=$((i+1)); "
    'printf "\\033[1m\\033[38;2;200;100;50mstep %d\\033[0m some words of an agent at work\\n" $i; '
    "done; exec sleep 600"
)


def launch(directory: Path) -> Launch:
    environment = {"PATH": os.environ["PATH"], "HOME": str(directory), "COCKPIT_RUN": MARKER}
    return Launch(("/bin/sh", "-c", AGENT), directory, environment)


async def timed(call: Callable[[], Awaitable[object]], runs_made: int = RUNS) -> list[float]:
    """Milliseconds of each run, the first one left out."""
    await call()
    took = []
    for _ in range(runs_made):
        begun = time.perf_counter()
        await call()
        took.append((time.perf_counter() - begun) * 1000)
    return took


async def cpu_of(call: Callable[[], Awaitable[object]], runs_made: int = RUNS) -> float:
    """Milliseconds of processor time that one call costs us and our children."""

    def spent() -> float:
        both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(one.ru_utime + one.ru_stime for one in both)

    before = spent()
    for _ in range(runs_made):
        await call()
    return (spent() - before) / runs_made * 1000


def say(
    name: str,
    took: list[float],
    at_most: float | None = None,
    beside: dict[str, list[float]] | None = None,
) -> None:
    theirs = {whose: statistics.median(times) for whose, times in (beside or {}).items()}
    row(f"{name}: median", statistics.median(took), "ms", at_most=at_most, beside=theirs)
    row(f"{name}: p95", percentile(took, 0.95), "ms")


async def swap(tmux: Tmux, pane: Pane) -> Pane:
    """From the decision to end the old process until the new one is in the pane."""
    await tmux.processes.end(tmux.processes.identify(pane.pid), "")
    again = await tmux.reopen(pane.id, launch(Path.home()))
    # What stands in the pane first is our launcher; the new process is there when it has gone.
    while Path(f"/proc/{again.pid}/comm").read_text().startswith("python"):
        await asyncio.sleep(0.001)
    return again


async def measure(tmux: Tmux) -> None:
    views = TmuxViews(tmux)
    opened = time.perf_counter()
    panes = [await tmux.open(f"agent-{number}", launch(Path.home())) for number in range(PANES)]
    row(f"open {PANES} panes: each", (time.perf_counter() - opened) * 1000 / PANES, "ms")
    shown = panes[0]

    server = libtmux.Server(socket_path=str(tmux.command.socket))
    ours = await timed(tmux.look)
    theirs = await timed(lambda: asyncio.to_thread(lambda: server.panes))
    say(f"look at {PANES} panes", ours, beside={"libtmux": theirs})
    row(f"look at {PANES} panes: processor, ours and the client's", await cpu_of(tmux.look), "ms")

    say("capture a pane", await timed(lambda: tmux.capture(shown.id)))
    screen = await tmux.capture(shown.id)

    async def parse() -> None:
        state = PLAIN
        for line in screen.lines:
            _, state = runs(line, state)

    say("its lines into runs of one look", await timed(parse))

    window = (
        f"cockpit:{(await tmux.command.run(['display-message', '-p', '-t', shown.id, '#I']))[0]}"
    )
    there = await timed(lambda: tmux.command.run(["select-window", "-t", window]))
    back = await timed(lambda: tmux.command.run(["select-window", "-t", "cockpit:0"]))
    say("into a pane (select-window)", there, 30)
    say("and back", back, 30)
    say("attach command", await timed(views.attach_command))

    took = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        shown = await swap(tmux, shown)
        took.append((time.perf_counter() - begun) * 1000)
    say("old process ended, new one running", took, 500)


async def main() -> None:
    home = Path.home()
    tmux = Tmux(home / "t.sock", home / "t.conf", {"PATH": os.environ["PATH"], "HOME": str(home)})
    try:
        await measure(tmux)
    finally:
        await tmux.processes.end(None, MARKER, patience=1)
        await tmux.stop_server()


if __name__ == "__main__":
    asyncio.run(main())
