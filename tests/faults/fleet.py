"""Cycles flown several at a time, each with a nursery of its own."""

from __future__ import annotations

import os
import queue
import shutil
import signal
import statistics
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from multiprocessing.pool import ThreadPool
from pathlib import Path
from types import TracebackType
from typing import Self

from cockpit.demo.repository import make_repository
from cockpit.demo.standin.program import install
from tests.faults import kernel_log, power
from tests.faults.cycle import Cycle, Flown, fly, memory
from tests.faults.nursery import Nursery, TracerEndedError
from tests.faults.programme import Coverage, points_of, programme

TRACERS = 3
"""How often strace may give up in one cycle."""
DRY = 3
"""Flights without a fault that come first: they count the points."""


class Fleet:
    """Workers, and what all cycles are flown with; over and gone when the block is left."""

    def __init__(self, workers: int, *, keep: bool = False, trace: bool = True) -> None:
        self._workers, self._keep = workers, keep
        self.untraced = kernel_log.reason_against() if trace else "it was not asked for"
        """Why the order of deeds is not judged; None where it is."""
        self.powerless = power.reason_against()
        """Why no power is cut; None where it is."""
        self.coverage = Coverage()
        self.tracers_ended: list[str] = []
        """What strace said when it gave up; each of these cycles was flown again."""
        self._free: queue.Queue[Nursery] = queue.Queue()
        self._numbers = count()
        self._ended = False

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="ckfaults-"))
        self._traces = Path(tempfile.mkdtemp(prefix="ckfaults-", dir=memory()))
        self._pool = ThreadPool(self._workers)
        try:
            (self._folder / "repository").mkdir()
            make_repository(self._folder / "repository", os.environ)
            install(self._folder / "bin")
            for _ in range(self._workers):
                self._free.put(self._nursery())
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # What flies is landed; what still waits for its turn is not begun.
        self._ended = True
        with unhurried():
            self._pool.close()
            self._pool.join()
            while not self._free.empty():
                self._free.get().close()
            shutil.rmtree(self._folder, ignore_errors=True)
            shutil.rmtree(self._traces, ignore_errors=True)

    def fly(self, cycles: Iterable[Cycle]) -> Iterator[Flown]:
        """Fly them all; in the order in which they end."""
        return self._pool.imap_unordered(self._fly, cycles)

    def fly_programme(self, cycles: int, seed: int, *, complete: bool = False) -> Iterator[Flown]:
        """Count the points, then fly the programme until so many cycles count.

        A cycle whose fault lay behind its end is flown, judged, and not counted. `complete` goes
        on until each point that was reached is hit, or was tried often enough.
        """
        dry = list(self.fly([Cycle(worktree=bool(number % 2)) for number in range(DRY)]))
        for each in dry:
            self.coverage.take(each)
        yield from dry
        points = statistics.median_low(points_of(each.points) for each in dry)
        landed: queue.SimpleQueue[Flown | BaseException] = queue.SimpleQueue()
        ahead = programme(points, seed, power=self.powerless is None)
        counted = flying = taken = 0
        while True:
            while flying < self._workers:
                is_over = counted + flying >= cycles
                if is_over and not complete:
                    break
                cycle = self.coverage.next() if taken % 2 or is_over else None
                if is_over and cycle is None:
                    break
                self._take_off(cycle or next(ahead), landed)
                flying += 1
                taken += 1
            if not flying:
                return
            flown = landed.get()
            if isinstance(flown, BaseException):
                raise flown
            flying -= 1
            counted += flown.counts
            self.coverage.take(flown)
            yield flown

    def _take_off(self, cycle: Cycle, landed: queue.SimpleQueue[Flown | BaseException]) -> None:
        self._pool.apply_async(self._fly, (cycle,), callback=landed.put, error_callback=landed.put)

    def _fly(self, cycle: Cycle) -> Flown:
        if self._ended:
            return Flown(cycle)
        nursery, folder = self._free.get(), self._folder
        try:
            for _ in range(TRACERS):
                try:
                    return fly(
                        cycle, folder / "repository", folder / "bin", nursery, keep=self._keep
                    )
                except TracerEndedError as ended:
                    self.tracers_ended.append(str(ended))
                    nursery.close()
                    nursery = self._nursery()
            raise RuntimeError(f"strace gave up {TRACERS} times: {self.tracers_ended[-1]}")
        finally:
            self._free.put(nursery)

    def _nursery(self) -> Nursery:
        return Nursery(None if self.untraced else self._traces / str(next(self._numbers)))


@contextmanager
def unhurried() -> Iterator[None]:
    """A second Ctrl-C does not interrupt: supervisors and mounts would be left behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
