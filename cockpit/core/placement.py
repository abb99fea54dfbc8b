"""Choose the machine for a new agent, from the facts that each machine reports.

Pure: other modules ask the machines. The order is: running agents per core, load average per
core, free memory, then the order in which the machines are configured, this machine first. An
unknown number counts as worse than every known one, because a guess could overload a machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from cockpit.core.plurals import counted

LOAD_STEP = 0.1
"""Loads per core that round to the same multiple of this value count as equal, because loads
vary."""
MEMORY_STEP = 100_000_000
"""Amounts of free memory that round down to the same multiple of this value, in bytes, count as
equal."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A machine on which the agent could start. None means unknown."""

    name: str
    refusal: str = ""
    """Why the agent cannot start on this machine; empty if the agent can."""
    remedy: str = ""
    """The next step that would make a start on this machine possible."""
    running: int | None = None
    """Number of agents with a process."""
    cores: int | None = None
    load: float | None = None
    """Load average of the last minute."""
    free_memory: int | None = None
    """Bytes that new programs can use."""
    note: str = ""
    """Checks that were not possible on this machine."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The machines on which the agent can start, best first, and the machines that refuse."""

    fitting: tuple[Candidate, ...]
    refused: tuple[Candidate, ...]

    @property
    def chosen(self) -> Candidate | None:
        return self.fitting[0] if self.fitting else None

    def lines(self) -> list[str]:
        """Return one line for each machine that was not chosen, with the reason."""
        best = self.chosen
        others = [
            f"{candidate.name}: {difference(best, candidate)}"
            for candidate in self.fitting[1:]
            if best
        ]
        return [*others, *(f"{candidate.name}: {candidate.refusal}" for candidate in self.refused)]


def choose(candidates: Sequence[Candidate]) -> Choice:
    """Rank the machines; equal machines keep their order."""
    fitting = sorted((candidate for candidate in candidates if not candidate.refusal), key=_rank)
    return Choice(tuple(fitting), tuple(candidate for candidate in candidates if candidate.refusal))


def numbers(candidate: Candidate) -> str:
    """Format the numbers for the choice: `2 running agents on 8 cores, load 0.4, 12.1 GB free`."""
    agents = (
        "an unknown number of agents"
        if candidate.running is None
        else counted(candidate.running, "running agent")
    )
    cores = (
        "an unknown number of cores"
        if candidate.cores is None
        else counted(candidate.cores, "core")
    )
    load = "load unknown" if candidate.load is None else f"load {candidate.load:.1f}"
    free = "free memory unknown"
    if candidate.free_memory is not None:
        free = f"{candidate.free_memory / 1e9:.1f} GB free"
    note = f"; {candidate.note}" if candidate.note else ""
    return f"{agents} on {cores}, {load}, {free}{note}"


def difference(best: Candidate, other: Candidate) -> str:
    """Return the reason for preferring `best` to `other`, on which the agent could start too."""
    kinds = ("more running agents per core", "more load per core", "less free memory")
    unknown = ("agents or cores", "load or cores", "free memory")
    for place, (mine, theirs) in enumerate(zip(_rank(best), _rank(other), strict=True)):
        if mine != theirs:
            known = not math.isinf(theirs)
            why = kinds[place] if known else f"{unknown[place]} unknown"
            return f"{why} ({numbers(other)})"
    return f"equally good, but {best.name} comes first in the list of machines ({numbers(other)})"


def _rank(candidate: Candidate) -> tuple[Fraction | float, Fraction | float, Fraction | float]:
    """Return the numbers by which machines are compared, most important first; lower is better."""
    cores = candidate.cores or None
    agents: Fraction | float = math.inf
    if cores is not None and candidate.running is not None:
        agents = Fraction(candidate.running, cores)
    load = math.inf
    if cores is not None and candidate.load is not None:
        load = float(round(candidate.load / cores / LOAD_STEP))
    free = (
        math.inf
        if candidate.free_memory is None
        else float(-(candidate.free_memory // MEMORY_STEP))
    )
    return agents, load, free
