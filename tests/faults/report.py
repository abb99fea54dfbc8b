"""The figures of many cycles."""

from __future__ import annotations

import statistics
import time
from collections import Counter

from tests.faults.cycle import Flown
from tests.faults.programme import points_of

EXPECTED = ("done", "asked by two clients", "ended with the machine")
"""Ends that are not listed one by one."""


class Report:
    """Takes cycles in as they end."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._began = time.monotonic()
        self.cycles = self.violations = self._samples = 0
        self.counted = self._counted_again = self._counted_apart = 0
        self._unhurt = self._missed = self._missed_again = 0
        self._sprung: Counter[str] = Counter()
        self._outcomes: Counter[str] = Counter()
        self._others: list[str] = []
        self._names: set[str] = set()
        self._hit: set[tuple[str, str]] = set()
        self._points = 0
        self._recoveries: list[float] = []
        self._seconds: list[float] = []
        self._traced = self._deeds = 0

    def take(self, flown: Flown) -> None:
        self.cycles += 1
        self.violations += len(flown.wrong)
        self._samples += flown.samples
        self._traced += flown.deeds is not None
        self._deeds += flown.deeds or 0
        self._count(flown)
        self._outcomes[flown.outcome.partition(":")[0] or "none"] += 1
        if flown.outcome not in EXPECTED:
            self._others.append(f"{flown.cycle}: {flown.outcome}")
        self._recoveries += flown.recoveries
        self._seconds.append(flown.seconds)
        if not flown.cycle.first and not flown.cycle.clients:
            self._points = max(self._points, points_of(flown.points))
        for point in flown.points + flown.again:
            self._names.add(point.name)
            if point.sprung:
                self._sprung[point.sprung] += 1
                self._hit.add((point.name, point.sprung))

    def _count(self, flown: Flown) -> None:
        if flown.counts:
            self.counted += 1
            self._counted_again += flown.struck_again
            self._counted_apart += flown.cycle.worktree
        elif not flown.cycle.first:
            self._unhurt += 1
        elif flown.struck:
            self._missed_again += 1
        else:
            self._missed += 1

    def line(self) -> str:
        seconds = time.monotonic() - self._began
        pace = self.cycles / seconds * 60
        return (
            f"{self.counted} cycles in which every fault struck, {self.violations} violations; "
            f"{self.cycles} flown, {pace:.0f} a minute"
        )

    def text(self) -> str:
        """All figures, one a line."""
        sprung = ", ".join(f"{count} {kind}" for kind, count in sorted(self._sprung.items()))
        ended = ", ".join(f"{count} {word}" for word, count in self._outcomes.most_common())
        recoveries = sorted(self._recoveries)
        figures = [
            self.line() + f", seed {self._seed}",
            f"points of one handoff: {self._points}; different ones reached: {len(self._names)}, "
            f"hit: {len({name for name, _ in self._hit})}",
            f"faults that struck: {sprung or 'none'}",
            f"of the {self.counted}: {self._counted_again} hurt again during recovery, "
            f"{self._counted_apart} in a git worktree",
            f"flown and not counted: {self._missed} whose fault struck nothing, "
            f"{self._missed_again} whose second one struck nothing, {self._unhurt} without one",
            f"handoffs ended: {ended}",
            f"order judged by the kernel's log in {self._traced} of {self.cycles} cycles, "
            f"{self._deeds} deeds",
            f"looks at the processes: {self._samples}, "
            f"{self._samples / max(sum(self._seconds), 0.001):.0f} a second in each cycle",
            f"a cycle: median {statistics.median(self._seconds):.1f} s, "
            f"worst {max(self._seconds):.1f} s",
        ]
        if recoveries:
            figures.append(
                f"recovery until it answers: median {statistics.median(recoveries):.2f} s, "
                f"worst {recoveries[-1]:.2f} s, of {len(recoveries)}"
            )
        return "\n".join([*figures, *(f"not done: {each}" for each in self._others[:10])])
