"""Blocking calls on daemon threads, each waited for only so long.

A thread that hangs in a system call cannot be ended. It is left behind, what was still to be done
goes to another thread, and at most `MOST_HUNG` may hang at once. Daemon threads, so that none of
them keeps the process from ending.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar, cast

from cockpit.core.safetext import safe_line
from cockpit.ports.slow_calls import NoAnswer

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

PATIENCE = 1.0
"""Seconds that one look at a file may take until the others are looked at without it."""
MOST_HUNG = 64
"""Threads that may hang at once; each takes some kilobytes."""
_FORGET_SECONDS = 60.0


class BoundedCalls:
    """A few threads that come and go; see `ports.slow_calls.SlowCalls`."""

    def __init__(self, patience: float = PATIENCE, most_hung: int = MOST_HUNG) -> None:
        self.patience = patience
        self._most_hung = most_hung
        self._hung: dict[Hashable, _Job] = {}
        self._idle: list[_Worker] = []

    @property
    def hanging(self) -> int:
        """How many calls have not returned that nobody waits for any more."""
        return sum(not job.done for job in self._hung.values())

    async def each(self, calls: Mapping[K, Callable[[], T]]) -> dict[K, T | Exception]:
        """Run the calls one after the other; see the port."""
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
                self._hung.pop(job.key, None)  # it came just after it was given up
            answers[cast(K, job.key)] = job.result if job.done else job.no_answer()
        self._forget_old()
        return answers

    async def ask(self, key: Hashable, call: Callable[[], T], patience: float | None = None) -> T:
        """Run one call; see the port."""
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
        """Until each is done or hangs; what hangs is noted."""
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
                worker.inbox.put(None)  # it ends when the call returns, if it ever does
            jobs = batch.left()

    def _forget_old(self) -> None:
        """Drop answers that came too late and that nobody asked for again."""
        now = time.monotonic()
        for key, job in list(self._hung.items()):
            if job.done and now - job.ended > _FORGET_SECONDS:
                del self._hung[key]


class _Job:
    """One call. Its thread writes `result` and then `done`; the event loop reads them."""

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
        except Exception as error:  # noqa: BLE001 - handed on to whoever asked
            self.result = error
        self.ended = time.monotonic()
        self.done = True

    def no_answer(self) -> NoAnswer:
        seconds = time.monotonic() - self.began if self.began else 0.0
        return NoAnswer(
            "The file system does not answer",
            f"{safe_line(str(self.key), 200)}: no answer for {seconds:.0f} s.",
            "Look at that mount (FUSE, NFS, a stopped process); it is looked at again by itself.",
        )


class _Batch:
    """Jobs that one thread does in order, until it is told to give up."""

    def __init__(self, loop: asyncio.AbstractEventLoop, jobs: Sequence[_Job]) -> None:
        self._loop = loop
        self._jobs = jobs
        self._ended = asyncio.Event()
        self._lock = threading.Lock()
        self._given_up = False
        self._at = -1
        self.over = False

    def run(self) -> None:
        """On the thread."""
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
        except RuntimeError:  # the loop has been closed meanwhile
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
        """Leave the thread with the call it is in, if that takes too long; that call."""
        with self._lock:
            if self.over or self._at < 0:
                return None
            job = self._jobs[self._at]
            if not job.done and time.monotonic() - job.began >= patience:
                self._given_up = True
                return job
            return None

    def cancel(self) -> None:
        """Begin no further call."""
        with self._lock:
            self._given_up = True

    def left(self) -> Sequence[_Job]:
        """What was not begun."""
        return () if self.over else self._jobs[self._at + 1 :]


class _Worker(threading.Thread):
    """Does batches until it is sent None."""

    def __init__(self) -> None:
        super().__init__(name="cockpit-files", daemon=True)
        self.inbox: queue.SimpleQueue[_Batch | None] = queue.SimpleQueue()
        self.start()

    def run(self) -> None:
        while (batch := self.inbox.get()) is not None:
            batch.run()
