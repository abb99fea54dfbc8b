"""Which cycles are flown: every point, every kind of fault, once and again during recovery.

Every other one in a git worktree.
The same seed gives the same programme for the same number of points.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from dataclasses import asdict
from typing import get_args

from tests.faults.cycle import Cycle
from tests.faults.trap import Fault, Kind, Reached

LAST = "documents.withdraw_notice after"
"""What a handoff that went well reaches last, before it is told."""
AFTER_LAST = 4
RECOVERY = 70
"""Points of a recovery among which the second fault is drawn."""
AGENTS = ["", "", "", "", "first:deaf", "orphan", "first:deaf,orphan", "deaf,orphan"]


def points_of(dry: list[Reached]) -> int:
    """How many points one handoff has, by a flight in which nothing was hurt."""
    last = [each.number for each in dry if each.name == LAST]
    return (last[-1] if last else len(dry)) + AFTER_LAST


def programme(points: int, seed: int) -> Iterator[Cycle]:
    """Cycles without end: the whole matrix in an order of its own, then again with other agents."""
    chance = random.Random(seed)
    apart = itertools.cycle((True, False))
    while True:
        matrix = list(itertools.product(range(1, points + 1), get_args(Kind), (False, True)))
        chance.shuffle(matrix)
        for at, kind, again in matrix:
            yield drawn(chance, at, kind, again=again, worktree=next(apart))


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


def to_text(cycle: Cycle) -> str:
    """A cycle as one argument, for `--replay`."""
    return json.dumps(asdict(cycle), separators=(",", ":"))


def from_text(text: str) -> Cycle:
    held = json.loads(text)
    for name in ("first", "second"):
        held[name] = tuple(Fault(**each) for each in held[name])
    return Cycle(**held)
