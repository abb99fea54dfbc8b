"""`make faults`: hurt the supervisor at every point of a handoff, and judge what is left.

Real tmux, real git, real SQLite, real processes; only the agent's CLI is a stand-in. Exit code 1
for any violation, with what is needed to fly that cycle again.
"""

from __future__ import annotations

import argparse
import signal
import sys

from tests.faults.fleet import Fleet
from tests.faults.programme import from_text, to_text
from tests.faults.report import Report

ENOUGH = 1000
"""Cycles in which every point must be hit."""
NAMED = 5
"""The most points that a line of progress names."""


def main(arguments: list[str]) -> int:
    """Fly so many cycles; 1 if anything was wrong."""
    asked = parser().parse_args(arguments)
    # However it is ended, the cycles that fly are landed first, and nobody is left.
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, leave)
    report = Report(asked.seed)
    demanded = not asked.replay and asked.cycles >= ENOUGH
    with Fleet(asked.workers, keep=asked.keep, trace=asked.trace) as fleet:
        if fleet.untraced:
            print(f"The order of deeds is not judged: {fleet.untraced}", file=sys.stderr)
        if fleet.powerless:
            print(f"No power is cut: {fleet.powerless}", file=sys.stderr)
        if asked.replay:
            flown = fleet.fly([from_text(each) for each in asked.replay] * asked.times)
        else:
            flown = fleet.fly_programme(asked.cycles, asked.seed, complete=demanded)
        for number, each in enumerate(flown, start=1):
            report.take(each)
            for wrong in each.wrong:
                print(f"VIOLATION {each.cycle}\n  {wrong}")
                print(f"  again: make faults ARGUMENTS=\"--replay '{to_text(each.cycle)}'\"")
            if each.kept:
                print(f"  kept: {each.kept}")
            if number % 100 == 0:
                unhit = fleet.coverage.open
                more = f"; {len(unhit)} points not hit yet: {', '.join(unhit[:NAMED])}"
                print(report.line() + (more if unhit else ""), file=sys.stderr, flush=True)
    print(report.text())
    for told in fleet.tracers_ended:
        print(f"a cycle was flown again, since strace gave up: {told}")
    missed = fleet.coverage.missed
    for name, seen in fleet.coverage.by_timing.items():
        print(f"by timing, not hit: {name}: {seen}")
    if missed:
        print(f"reached and never hit: {', '.join(missed)}")
    return 1 if report.violations or (missed and demanded) else 0


def leave(number: int, _: object) -> None:
    """Once is enough: cycles that are under way are ended and cleaned up before the program is."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    print("Waiting for the cycles that are under way, up to a minute.", file=sys.stderr)
    sys.exit(128 + number)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    made.add_argument("--cycles", type=int, default=1000, help="in which every fault strikes")
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--workers", type=int, default=6, help="cycles that are flown at a time")
    made.add_argument("--keep", action="store_true", help="keep the folder of a cycle that failed")
    made.add_argument("--replay", nargs="+", help="fly these cycles, as violations name them")
    made.add_argument(
        "--no-trace", dest="trace", action="store_false", help="without strace: order is not judged"
    )
    made.add_argument("--times", type=int, default=1, help="so often")
    return made


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
