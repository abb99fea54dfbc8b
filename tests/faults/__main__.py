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


def main(arguments: list[str]) -> int:
    """Fly so many cycles; 1 if anything was wrong."""
    asked = parser().parse_args(arguments)
    # However it is ended, the cycles that fly are landed first, and nobody is left.
    signal.signal(signal.SIGTERM, leave)
    report = Report(asked.seed)
    with Fleet(asked.workers, keep=asked.keep) as fleet:
        if asked.replay:
            cycle = from_text(asked.replay)
            flown = fleet.fly([cycle] * asked.times)
        else:
            flown = fleet.fly_programme(asked.cycles, asked.seed)
        for number, each in enumerate(flown, start=1):
            report.take(each)
            for wrong in each.wrong:
                print(f"VIOLATION {each.cycle}\n  {wrong}")
                print(f"  again: make faults ARGUMENTS=\"--replay '{to_text(each.cycle)}'\"")
            if each.kept:
                print(f"  kept: {each.kept}")
            if number % 100 == 0:
                print(report.line(), file=sys.stderr, flush=True)
    print(report.text())
    return 1 if report.violations else 0


def leave(*_: object) -> None:
    """Once is enough, and landing is not hurried."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(143)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    made.add_argument("--cycles", type=int, default=1000, help="in which every fault strikes")
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--workers", type=int, default=6, help="cycles that are flown at a time")
    made.add_argument("--keep", action="store_true", help="keep the folder of a cycle that failed")
    made.add_argument("--replay", help="fly this one cycle, as a violation names it")
    made.add_argument("--times", type=int, default=1, help="so often")
    return made


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
