"""Cycles flown several at a time, each with a nursery of its own."""

from __future__ import annotations

import os
import queue
import shutil
import statistics
import tempfile
from collections.abc import Iterable, Iterator
from multiprocessing.pool import ThreadPool
from pathlib import Path
from types import TracebackType
from typing import Self

from cockpit.demo.repository import make_repository
from cockpit.demo.standin.program import install
from tests.faults.cycle import Cycle, Flown, fly
from tests.faults.nursery import Nursery
from tests.faults.programme import points_of, programme

DRY = 3
"""Flights without a fault that come first: they count the points."""


class Fleet:
    """Workers, and what all cycles are flown with; over and gone when the block is left."""

    def __init__(self, workers: int, *, keep: bool = False) -> None:
        self._workers, self._keep = workers, keep
        self._free: queue.Queue[Nursery] = queue.Queue()
        self._ended = False

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="ckfaults-"))
        (self._folder / "repository").mkdir()
        make_repository(self._folder / "repository", os.environ)
        install(self._folder / "bin")
        for _ in range(self._workers):
            self._free.put(Nursery())
        self._pool = ThreadPool(self._workers)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # What flies is landed; what still waits for its turn is not begun.
        self._ended = True
        self._pool.close()
        self._pool.join()
        while not self._free.empty():
            self._free.get().close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def fly(self, cycles: Iterable[Cycle]) -> Iterator[Flown]:
        """Fly them all; in the order in which they end."""
        return self._pool.imap_unordered(self._fly, cycles)

    def fly_programme(self, cycles: int, seed: int) -> Iterator[Flown]:
        """Count the points, then fly the programme until so many cycles count.

        A cycle whose fault lay behind its end is flown, judged, and not counted.
        """
        dry = list(self.fly([Cycle(worktree=bool(number % 2)) for number in range(DRY)]))
        yield from dry
        points = statistics.median_low(points_of(each.points) for each in dry)
        landed: queue.SimpleQueue[Flown | BaseException] = queue.SimpleQueue()
        ahead, counted, flying = programme(points, seed), 0, 0
        while counted + flying < cycles or flying:
            while counted + flying < cycles and flying < self._workers:
                self._take_off(next(ahead), landed)
                flying += 1
            flown = landed.get()
            if isinstance(flown, BaseException):
                raise flown
            flying -= 1
            counted += flown.counts
            yield flown

    def _take_off(self, cycle: Cycle, landed: queue.SimpleQueue[Flown | BaseException]) -> None:
        self._pool.apply_async(self._fly, (cycle,), callback=landed.put, error_callback=landed.put)

    def _fly(self, cycle: Cycle) -> Flown:
        if self._ended:
            return Flown(cycle)
        nursery = self._free.get()
        try:
            folder = self._folder
            return fly(cycle, folder / "repository", folder / "bin", nursery, keep=self._keep)
        finally:
            self._free.put(nursery)
