"""Run `asyncio.to_thread` calls on daemon threads, so that a hanging call blocks nothing else.

The standard pool has few threads and joins all of them at exit. A few calls that hang in a file
system would block every other call, and keep the process from exiting.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar, cast

T = TypeVar("T")

MOST = 64
LAST_SECONDS = 3.0
"""Maximum seconds to wait for running calls when the loop closes: a call may be writing a
document."""


class DaemonThreads(ThreadPoolExecutor):
    """An executor that runs calls on daemon threads, at most `most` at once.

    A subclass of `ThreadPoolExecutor`, because `loop.set_default_executor` accepts no other
    executor.
    """

    def __init__(self, most: int = MOST) -> None:
        super().__init__(max_workers=1)
        self._free: list[queue.SimpleQueue[_Task | None]] = []
        self._waiting: queue.SimpleQueue[_Task] = queue.SimpleQueue()
        self._guard = threading.Condition()
        self._most = most
        self._count = 0
        self._busy = 0
        self._closed = False

    def submit(self, call: Callable[..., T], /, *args: Any, **more: Any) -> Future[T]:
        """Run the call on an idle or new thread, or after others if all threads are busy."""
        task = _Task(lambda: call(*args, **more))
        with self._guard:
            if self._closed:
                raise RuntimeError("cannot schedule new futures after shutdown")
            self._busy += 1
            if self._free:
                self._free.pop().put(task)
            elif self._count < self._most:
                self._count += 1
                inbox: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
                inbox.put(task)
                threading.Thread(
                    target=self._work, args=(inbox,), name="cockpit-call", daemon=True
                ).start()
            else:
                self._waiting.put(task)
        return cast("Future[T]", task.future)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the idle threads. With `wait`, first wait for running calls, for at most
        `LAST_SECONDS`. A hanging call keeps its daemon thread.
        """
        with self._guard:
            if wait:
                self._guard.wait_for(lambda: self._busy == 0, LAST_SECONDS)
            self._closed = True
            for inbox in self._free:
                inbox.put(None)
            self._free.clear()

    def _work(self, inbox: queue.SimpleQueue[_Task | None]) -> None:
        while (task := inbox.get()) is not None:
            task.run()
            with self._guard:
                self._busy -= 1
                self._guard.notify_all()
                if not self._waiting.empty():
                    inbox.put(self._waiting.get())
                elif self._closed:
                    return
                else:
                    self._free.append(inbox)


class _Task:
    """A call and its future."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.future: Future[Any] = Future()
        self._call = call

    def run(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            result = self._call()
        except BaseException as error:  # noqa: BLE001 - raised in the caller
            self.future.set_exception(error)
        else:
            self.future.set_result(result)
