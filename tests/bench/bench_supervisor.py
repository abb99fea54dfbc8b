"""What watching costs: from a line in a transcript to a row on the wire, processor and memory.

The agents are programs that sleep; the bench writes their transcripts and notes in their place.
Swaps are flown by stand-ins. Every figure is of a real supervisor over a real tmux; `bench_whole`
has the screen to it.
"""

from __future__ import annotations

import statistics
import time
from functools import partial

from cockpit.client.raw_request import fetch
from tests.bench.flights import (
    SOCKET,
    agent,
    fleet_of,
    flying,
    handed_off,
    one_that_swaps,
    status,
    until,
)
from tests.bench.listening import following, watching
from tests.bench.processes import proportional, spent
from tests.bench.rows import percentile, row
from tests.bench.sleepers import EACH_PER_SECOND, Sleepers

WATCHED_SECONDS = 8.0
SWAPS = 5


def main() -> None:
    for agents in (50, 200):
        with flying(fleet_of(agents)):
            watch(Sleepers.of(agents))
    with flying(one_that_swaps()):
        swap()


def watch(sleepers: Sleepers) -> None:
    number = len(sleepers.names)
    pids = [int(status()["supervisor"]["pid"])]
    sleepers.rest()
    began = spent(pids)
    time.sleep(WATCHED_SECONDS)
    row(f"{number} idle agents: processor", 100 * (spent(pids) - began) / WATCHED_SECONDS, "%")
    row(f"{number} idle agents: memory", proportional(pids), "MB")
    sleepers.work()
    with watching(sleepers.seen):
        began = spent(pids)
        late = sleepers.write_for(WATCHED_SECONDS)
        used = 100 * (spent(pids) - began) / WATCHED_SECONDS
    what = f"{number} agents at {EACH_PER_SECOND:.0f} events/s each"
    row(f"{what}: line to row, median", statistics.median(late), "ms", at_most=50)
    row(f"{what}: line to row, p99", percentile(late, 0.99), "ms", at_most=150)
    row(f"{what}: lines that changed a row", 100 * len(late) / sleepers.written, "%")
    row(f"{what}: processor", used, "%")


def swap() -> None:
    stopped, running = [], []
    for number in range(SWAPS):
        until(lambda: agent()["state"] in {"idle", "done"} and agent()["handoff"] is None)
        moments: dict[str, float] = {}
        with following(moments):
            fetch(SOCKET, "/v1/handoff", body={"name": "swapper"})
            until(partial(handed_off, number + 1))
        stopped.append(1000 * (moments["agent.ended"] - moments["handoff.stopping"]))
        running.append(1000 * (moments["handoff.confirming"] - moments["agent.ended"]))
    row("swap: from the request until the old process has ended", statistics.median(stopped), "ms")
    row(
        "swap: from that end until the new process runs",
        statistics.median(running),
        "ms",
        at_most=500,
    )


if __name__ == "__main__":
    main()
