"""`make scale`: what a screen of many hosts costs, and with how many hosts a goal is missed.

The screen is the real one, in a terminal; each connection is a real `cockpit dial-stdio`. Only the
supervisors are stand-ins, all in one process (`stand_ins.py`). Everything is measured from outside.

With `--grow`, hosts are doubled until a goal is missed. Exit code: 0 when every goal was held with
the first number of hosts, else 3.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.bench import report
from tests.bench.bench_tui import KEYS, moved
from tests.bench.processes import command_line, end_marked, family, marked, proportional, spent
from tests.bench.rows import Row, percentile, row
from tests.bench.terminal import Terminal
from tests.scale.fleet import StandIns, environment_of, stand_ins
from tests.scale.stand_ins import arguments, host_names

SIZE = (60, 200)
READY_SECONDS = 180.0
WARM_SECONDS = 3.0
MISSED = 3


def main() -> int:
    parser = argparse.ArgumentParser(prog="make scale", parents=[arguments()])
    parser.add_argument("--seconds", type=float, default=10, help="length of each measurement")
    parser.add_argument("--grow", type=int, default=0, metavar="MOST", help="double up to MOST")
    given = parser.parse_args()
    print(report.machine())
    hosts, missed_at, first = given.hosts, None, True
    while True:
        missed = [one for one in _measured(hosts, given) if one.missed]
        for one in missed:
            print(f"  missed with {hosts} hosts: {one.what}")
        missed_at = hosts if missed else None
        if first:
            code, first = MISSED if missed else 0, False
        if missed or hosts * 2 > given.grow:
            break
        hosts *= 2
    if given.grow:
        print(_end(missed_at, hosts))
    return code


def _end(missed_at: int | None, hosts: int) -> str:
    if missed_at is None:
        return f"Every goal is held with {hosts} hosts; more were not tried."
    return f"The first goal is missed with {missed_at} hosts."


def _measured(hosts: int, given: argparse.Namespace) -> list[Row]:
    what = f"{hosts} hosts x {given.agents} agents, {given.events:g} events/s each"
    print(f"\n{what}, {given.drops:g} drops a minute, seed {given.seed}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="cks"))
    try:
        with stand_ins(folder, hosts, given) as fleet:
            return _with_screen(folder, hosts, given, fleet)
    finally:
        end_marked(str(folder))
        shutil.rmtree(folder, ignore_errors=True)


def _with_screen(folder: Path, hosts: int, given: argparse.Namespace, fleet: StandIns) -> list[Row]:
    environment = environment_of(folder, host_names(hosts))
    argv = [sys.executable, "-P", "-m", "cockpit", "--direct"]
    with Terminal(argv, environment, folder, SIZE) as terminal:
        _until_all_answer(terminal, fleet, hosts)
        took = time.monotonic() - terminal.begun
        rows = [row("until every host is shown", took, "s")]
        terminal.drained(WARM_SECONDS)
        rows += _figures("idle", folder, terminal, fleet, given.seconds)
        fleet.tell("work 1")
        terminal.drained(WARM_SECONDS)
        rows += _figures("busy", folder, terminal, fleet, given.seconds, kilobytes=10, share=10)
        rows += _answers("busy", terminal)
        fleet.tell(f"dead {host_names(hosts)[hosts // 2]}")
        rows += _figures("one host dead", folder, terminal, fleet, given.seconds, share=10)
        rows += _answers("one host dead", terminal)
        _weight(folder, terminal, rows)
        if given.drops:
            row("connections dropped meanwhile", fleet.tell("count")["dropped"], "")
        return rows


def _until_all_answer(terminal: Terminal, fleet: StandIns, hosts: int) -> None:
    end = time.monotonic() + READY_SECONDS
    while fleet.tell("count")["watched"] < hosts:
        if time.monotonic() > end:
            raise TimeoutError(f"not every host was followed: {terminal.seen[-300:]!r}")
        terminal.drained(0.2)
    terminal.until([b"agent-00"], READY_SECONDS)


def _figures(
    state: str,
    folder: Path,
    terminal: Terminal,
    fleet: StandIns,
    seconds: float,
    *,
    kilobytes: float | None = None,
    share: float | None = None,
) -> list[Row]:
    """Bytes and processor in one state; medians of windows of two seconds."""
    rates, shares, received = [], [], []
    for _ in range(max(1, round(seconds / 2))):
        lines = _written(_connections(folder))
        before, began = spent([terminal.pid]), time.monotonic()
        count = terminal.drained(2)
        took = time.monotonic() - began
        rates.append(count / took)
        shares.append(100 * (spent([terminal.pid]) - before) / took)
        after = _written(_connections(folder))
        received.append(sum(after[pid] - lines.get(pid, 0) for pid in after) / took)
    middle = statistics.median
    return [
        row(f"{state}: bytes to the terminal", middle(rates) / 1e3, "KB/s", at_most=kilobytes),
        row(f"{state}: bytes on all connections", middle(received) / 1e3, "KB/s"),
        row(f"{state}: processor of the screen", middle(shares), "%", at_most=share),
    ]


def _answers(state: str, terminal: Terminal) -> list[Row]:
    times = [moved(terminal, b"j" if n % 20 < 10 else b"k") for n in range(KEYS)]
    return [
        row(f"{state}: key to screen, p50", statistics.median(times), "ms"),
        row(f"{state}: key to screen, p95", percentile(times, 0.95), "ms", at_most=16),
    ]


def _weight(folder: Path, terminal: Terminal, rows: list[Row]) -> None:
    connections = _connections(folder)
    descriptors = len(list(Path(f"/proc/{terminal.pid}/fd").iterdir()))
    threads = len(list(Path(f"/proc/{terminal.pid}/task").iterdir()))
    rows += [
        row("memory of the screen (PSS)", proportional([terminal.pid]), "MB", at_most=150),
        row("descriptors of the screen", descriptors, ""),
        row("threads of the screen", threads, ""),
        row("processes below the screen", len(family(terminal.pid)) - 1, ""),
        row("memory of the stand-ins for ssh (PSS)", proportional(connections), "MB"),
    ]


def _connections(folder: Path) -> list[int]:
    return [pid for pid in marked(str(folder)) if b"dial-stdio" in command_line(pid)]


def _written(pids: list[int]) -> dict[int, int]:
    """Bytes that each process has written, from the kernel's count."""
    found = {}
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/io").read_text().splitlines()
        except OSError:
            continue  # it ended meanwhile
        found[pid] = next(int(line.split()[1]) for line in lines if line.startswith("wchar:"))
    return found


if __name__ == "__main__":
    sys.exit(main())
