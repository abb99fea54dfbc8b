"""Which cycles are flown: every point, every kind of fault, once and again during recovery.

Every other one in a git worktree. The same seed gives the same programme for the same number of
points; between its cycles come those that `Coverage` asks for: faults at points that were reached
and never hit, by name.
"""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import get_args

from tests.faults.cycle import Cycle, Flown
from tests.faults.trap import ENDS, Fault, Kind, Reached, Tampered

LAST = "documents.withdraw_notice after"
"""What a handoff that went well reaches last, before it is told."""
AFTER_LAST = 4
RECOVERY = 70
"""Points of a recovery among which the second fault is drawn."""
TAMPERED = 12
"""After so many cycles comes one in which somebody changes files of the handoff."""
CLIENTS = 12
"""After so many cycles comes one in which two clients ask for everything at once."""
POWER = 12
"""After so many cycles comes one in which the power is cut, where that is possible."""
AGENTS = ["", "", "", "", "first:deaf", "orphan", "first:deaf,orphan", "deaf,orphan"]


def points_of(dry: list[Reached]) -> int:
    """How many points one handoff has, by a flight in which nothing was hurt."""
    last = [each.number for each in dry if each.name == LAST]
    return (last[-1] if last else len(dry)) + AFTER_LAST


def programme(points: int, seed: int, *, power: bool = False) -> Iterator[Cycle]:
    """Cycles without end: the whole matrix in an order of its own, then again with other agents."""
    chance = random.Random(seed)
    apart = itertools.cycle((True, False))
    while True:
        matrix = list(itertools.product(range(1, points + 1), get_args(Kind), (False, True)))
        chance.shuffle(matrix)
        for number, (at, kind, again) in enumerate(matrix, start=1):
            yield drawn(chance, at, kind, again=again, worktree=next(apart))
            if number % TAMPERED == 0:
                yield tampered(chance, chance.randint(1, points), worktree=next(apart))
            if number % CLIENTS == 0:
                yield asked(chance, chance.randint(1, points), worktree=next(apart))
            if power and number % POWER == 0:
                at = chance.randint(1, points)
                yield Cycle(first=(Fault(at, "CUT"),), faults=chance.choice(AGENTS))


def drawn(
    chance: random.Random, at: int, kind: Kind, *, again: bool, worktree: bool = False
) -> Cycle:
    """One cell of the matrix, with a mode and agents by chance."""
    first, second = [Fault(at, kind)], []
    if again:
        if kind != "KILL":
            first.append(Fault(at + chance.randint(1, 40), "KILL"))
        second.append(Fault(chance.randint(1, RECOVERY), kind))
    return Cycle(
        first=tuple(first),
        second=tuple(second),
        mode="prompt" if chance.random() < 0.2 else "auto",
        faults=chance.choice(AGENTS),
        working=chance.random() < 0.4,
        worktree=worktree,
    )


def tampered(chance: random.Random, at: int, *, worktree: bool) -> Cycle:
    """Somebody changes files at a point, and in half of these cycles it is killed later."""
    first = [Fault(at, chance.choice(get_args(Tampered)))]
    if chance.random() < 0.5:
        first.append(Fault(at + chance.randint(1, 40), "KILL"))
    mode = "prompt" if chance.random() < 0.2 else "auto"
    return Cycle(first=tuple(first), mode=mode, worktree=worktree)


def asked(chance: random.Random, at: int, *, worktree: bool) -> Cycle:
    """Two clients; in half of these cycles the supervisor is killed under them, or killed twice."""
    first = (Fault(at, "KILL"),) if chance.random() < 0.5 else ()
    again = bool(first) and chance.random() < 0.5
    return Cycle(
        first=first,
        second=(Fault(chance.randint(1, RECOVERY), "KILL"),) if again else (),
        mode=chance.choice(("prompt", "auto")),
        worktree=worktree,
        clients=chance.randint(1, 1_000_000),
    )


class Coverage:
    """Which points were reached and which were hit, by name; asks for cycles that hit the rest.

    Some points are reached only when two things happen in one order and not the other: a worker
    thread is quicker than the loop, a client asks while a file is open, a process ends before it
    is asked to. No seed decides that. Such a point gets `TRIES` cycles made for it; one that none
    of them reached again is `by_timing`: it is reported, and is no failure.
    """

    TRIES = 12
    """Cycles that are flown for one point."""
    MORE_TRIES = 40
    """The same for a point that more than `RARE` cycles reached."""
    RARE = 3
    OFTEN = 0.1
    """The share of all cycles from which on a point that is reached is reached by no accident."""

    def __init__(self) -> None:
        self.hit: set[str] = set()
        self._reached: dict[str, tuple[Cycle, bool]] = {}
        """The last cycle that reached each with the fewest faults, and whether its second
        supervisor did."""
        self._times: Counter[str] = Counter()
        """In how many cycles each was reached."""
        self._cycles = 0
        self._tries: Counter[str] = Counter()
        self._dead: set[str] = set()
        """Reached where a fault waited for them by name, and not hit: the trap is broken."""

    @property
    def missed(self) -> list[str]:
        """Points that were reached, never hit, and could have been."""
        return sorted(self._unhit - set(self.by_timing))

    @property
    def by_timing(self) -> dict[str, str]:
        """Points that are reached by chance, each with what was seen of it."""
        return {
            name: f"reached in {self._times[name]} of {self._cycles} cycles, "
            f"in none of {self._tries[name]} that were made for it"
            for name in sorted(self._unhit - self._dead)
            if self._is_tried(name) and self._times[name] < self.OFTEN * self._cycles
        }

    @property
    def names(self) -> int:
        """How many different points were reached."""
        return len(self._reached)

    @property
    def open(self) -> list[str]:
        """Points that were reached, not hit yet, and not tried often enough."""
        return [name for name in sorted(self._unhit) if not self._is_tried(name)]

    @property
    def _unhit(self) -> set[str]:
        return set(self._reached) - self.hit

    def _is_tried(self, name: str) -> bool:
        most = self.MORE_TRIES if self._times[name] > self.RARE else self.TRIES
        return self._tries[name] >= most

    def take(self, flown: Flown) -> None:
        self._cycles += 1
        cycle, seen = flown.cycle, set[str]()
        for again, points, faults in (
            (False, flown.points, cycle.first),
            (True, flown.again, cycle.second),
        ):
            waiting = {fault.at for fault in faults if isinstance(fault.at, str)}
            for point in points:
                if point.sprung in get_args(Kind):
                    self.hit.add(point.name)
                # A recovery that nobody hurt on purpose cannot be brought about again.
                if not again or any(each.kind == "KILL" for each in cycle.first):
                    seen.add(point.name)
                    known = self._reached.get(point.name)
                    if known is None or hurt(cycle) <= hurt(known[0]):
                        self._reached[point.name] = (cycle, again)
            self._dead |= waiting & {point.name for point in points}
        self._times.update(seen)
        self._dead -= self.hit

    def next(self) -> Cycle | None:
        """A cycle for the point that was tried least; None when there is none."""
        open_still = self.open
        if not open_still:
            return None
        name = min(open_still, key=lambda each: self._tries[each])
        tries = self._tries[name]
        self._tries[name] += 1
        cycle, again = self._reached[name]
        # What was done cannot fail any more: after it there is only the end of the process.
        kinds = ("KILL",) if name.endswith(" after") else get_args(Kind)
        fault = Fault(name, kinds[tries % len(kinds)])
        if again:
            return replace(cycle, second=(*survived(cycle.second), fault))
        return replace(cycle, first=(*survived(cycle.first), fault), second=())


def hurt(cycle: Cycle) -> int:
    """How many things go wrong in it."""
    return len(cycle.first) + len(cycle.second)


def survived(faults: tuple[Fault, ...]) -> tuple[Fault, ...]:
    """Those that end no supervisor: what it does about them may be what reaches a point."""
    return tuple(each for each in faults if each.kind not in ENDS)


def to_text(cycle: Cycle) -> str:
    """A cycle as one argument, for `--replay`."""
    return json.dumps(asdict(cycle), separators=(",", ":"))


def from_text(text: str) -> Cycle:
    held = json.loads(text)
    for name in ("first", "second"):
        held[name] = tuple(Fault(**each) for each in held[name])
    return Cycle(**held)
