"""Run blocking calls on daemon threads, with a time limit per call.

A thread that hangs in a system call cannot be ended. Such a thread is abandoned, and the remaining
calls move to another thread. At most `MOST_HUNG` threads may hang at once. Daemon threads do not
keep the process from exiting.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar, cast

from cockpit.core.safetext import safe_line
from cockpit.ports.slow_calls import NoAnswer

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

PATIENCE = 1.0
"""Time limit of a call in seconds; then the other calls continue on another thread."""
MOST_HUNG = 64
"""Maximum number of hanging threads; each uses some kilobytes."""
_FORGET_SECONDS = 60.0


class BoundedCalls:
    """Runs blocking calls on a small pool of threads; implements `ports.slow_calls.SlowCalls`."""

    def __init__(self, patience: float = PATIENCE, most_hung: int = MOST_HUNG) -> None:
        self.patience = patience
        self._most_hung = most_hung
        self._hung: dict[Hashable, _Job] = {}
        self._idle: list[_Worker] = []
        weakref.finalize(self, _end_threads, self._idle)

    @property
    def hanging(self) -> int:
        """The number of abandoned calls that have not returned."""
        return sum(not job.done for job in self._hung.values())

    async def each(self, calls: Mapping[K, Callable[[], T]]) -> dict[K, T | Exception]:
        """Run the calls in sequence; return the result or the exception of each call, `NoAnswer`
        for a late call. See `SlowCalls.each`."""
        answers: dict[K, Any] = {}
        jobs: list[_Job] = []
        for key, call in calls.items():
            late = self._hung.get(key)
            if late is None:
                jobs.append(_Job(key, call))
            elif late.done:
                answers[key] = self._hung.pop(key).result
            else:
                answers[key] = late.no_answer()
        await self._run(jobs, self.patience)
        for job in jobs:
            if job.done:
                self._hung.pop(job.key, None)  # the call's result came just after the timeout
            answers[cast(K, job.key)] = job.result if job.done else job.no_answer()
        self._drop_old_answers()
        return answers

    async def ask(self, key: Hashable, call: Callable[[], T], patience: float | None = None) -> T:
        """Run one call, and return its result. Raises the call's exception, or `NoAnswer` after
        `patience` seconds; see `SlowCalls.ask`."""
        late = self._hung.get(key)
        if late is not None and not late.done:
            raise late.no_answer()
        self._hung.pop(key, None)
        job = _Job(key, call)
        await self._run([job], self.patience if patience is None else patience)
        if not job.done:
            raise job.no_answer()
        if isinstance(job.result, BaseException):
            raise job.result
        return cast(T, job.result)

    async def _run(self, jobs: Sequence[_Job], patience: float) -> None:
        """Run the jobs until each is done or hangs; record hanging jobs.

        If too many threads hang, returns without starting the remaining jobs.
        """
        while jobs:
            if self.hanging >= self._most_hung:
                return
            batch = _Batch(asyncio.get_running_loop(), jobs)
            worker = self._idle.pop() if self._idle else _Worker()
            worker.inbox.put(batch)
            try:
                while not await batch.ended_within(patience):
                    if (stuck := batch.give_up(patience)) is not None:
                        self._hung[stuck.key] = stuck
                        break
                else:
                    self._idle.append(worker)
            except asyncio.CancelledError:
                batch.cancel()
                worker.inbox.put(None)
                raise
            if not batch.over:
                worker.inbox.put(None)  # the thread ends when its call returns, if ever
            jobs = batch.left()

    def _drop_old_answers(self) -> None:
        """Drop late results that no caller asked for again."""
        now = time.monotonic()
        for key, job in list(self._hung.items()):
            if job.done and now - job.ended > _FORGET_SECONDS:
                del self._hung[key]


class _Job:
    """One call. Its thread sets `result` and then `done`; the event loop reads both."""

    def __init__(self, key: Hashable, call: Callable[[], Any]) -> None:
        self.key = key
        self.call = call
        self.result: Any = None
        self.done = False
        self.began = 0.0
        self.ended = 0.0

    def run(self) -> None:
        try:
            self.result = self.call()
        except Exception as error:  # noqa: BLE001 - raised in the caller
            self.result = error
        self.ended = time.monotonic()
        self.done = True

    def no_answer(self) -> NoAnswer:
        seconds = time.monotonic() - self.began if self.began else 0.0
        parts = self.key if isinstance(self.key, tuple) else (self.key,)
        subject = " ".join(map(str, parts))
        return NoAnswer(
            "The file system does not answer",
            f"{safe_line(subject, 200)}: no answer for {seconds:.0f} s.",
            "If the machine is very busy, try again later. Otherwise check the file system (FUSE, "
            "NFS, the files of a stopped process).",
        )


class _Batch:
    """Jobs that one thread runs in order, until the thread is abandoned."""

    def __init__(self, loop: asyncio.AbstractEventLoop, jobs: Sequence[_Job]) -> None:
        self._loop = loop
        self._jobs = jobs
        self._ended = asyncio.Event()
        self._lock = threading.Lock()
        self._given_up = False
        self._at = -1
        self.over = False

    def run(self) -> None:
        """Run the jobs. Called on the worker's thread."""
        for place, job in enumerate(self._jobs):
            with self._lock:
                if self._given_up:
                    return
                job.began = time.monotonic()
                self._at = place
            job.run()
        with self._lock:
            self.over = True
        try:
            self._loop.call_soon_threadsafe(self._ended.set)
        except RuntimeError:  # the loop was closed in the meantime
            return

    async def ended_within(self, seconds: float) -> bool:
        # Not `wait_for`: before Python 3.12 it can swallow a cancellation.
        try:
            async with asyncio.timeout(seconds):
                await self._ended.wait()
        except TimeoutError:
            return self.over
        return True

    def give_up(self, patience: float) -> _Job | None:
        """Abandon the thread if its current job takes too long; return that job, else None."""
        with self._lock:
            if self.over or self._at < 0:
                return None
            job = self._jobs[self._at]
            if not job.done and time.monotonic() - job.began >= patience:
                self._given_up = True
                return job
            return None

    def cancel(self) -> None:
        """Make the thread start no further call."""
        with self._lock:
            self._given_up = True

    def left(self) -> Sequence[_Job]:
        """Return the jobs that were not started."""
        return () if self.over else self._jobs[self._at + 1 :]


class _Worker(threading.Thread):
    """A daemon thread that runs one batch after another. A None in `inbox` ends the thread."""

    def __init__(self) -> None:
        super().__init__(name="cockpit-files", daemon=True)
        self.inbox: queue.SimpleQueue[_Batch | None] = queue.SimpleQueue()
        self.start()

    def run(self) -> None:
        while (batch := self.inbox.get()) is not None:
            batch.run()


def _end_threads(idle: Sequence[_Worker]) -> None:
    for worker in idle:
        worker.inbox.put(None)
