"""One lock per agent. A task that starts, ends or changes an agent holds the agent's lock.

Rules: a task holds the lock of at most one agent; only renaming an agent and removing a worktree
take several, in the order of the agents' names. The lock is reentrant, so a verb that holds the
lock can call the engine, which takes the lock again. After taking the lock, or after an `await`
without it, check conditions again. A request waits 30 s for the lock, then fails with the reason.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import field
from typing import Any

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import NotNow

PATIENCE = 30.0
"""Maximum seconds that a request waits for another change to the same agent."""


@dataclass(slots=True)
class _Lock:
    free: asyncio.Lock = field(default_factory=asyncio.Lock)
    owner: asyncio.Task[Any] | None = None
    doing: str = ""
    users: int = 0
    """Number of tasks that hold the lock or wait for it."""


class AgentLocks:
    """The locks of all agents, by name. A lock can be taken before its agent exists."""

    def __init__(self) -> None:
        self._locks: dict[str, _Lock] = {}

    @asynccontextmanager
    async def hold(
        self, name: str, doing: str, *, patience: float | None = None
    ) -> AsyncIterator[None]:
        """Keep every other task from changing the agent while the block runs.

        `doing` completes "It is …" in the errors of other requests. Raises `NotNow` after
        `patience` seconds; None waits without a limit.
        """
        lock = self._locks.setdefault(name, _Lock())
        if lock.owner is asyncio.current_task():
            yield
            return
        lock.users += 1
        try:
            await _acquire(lock, name, patience)
            lock.owner, lock.doing = asyncio.current_task(), doing
            try:
                yield
            finally:
                lock.owner = None
                lock.free.release()
        finally:
            lock.users -= 1
            if not lock.users:
                del self._locks[name]

    @asynccontextmanager
    async def hold_all(self, names: Iterable[str], doing: str) -> AsyncIterator[None]:
        """Hold the locks of several agents, taken in the order of their names.

        Raises `NotNow` if one of them is not free in time.
        """
        async with AsyncExitStack() as stack:
            for name in sorted(set(names)):
                await stack.enter_async_context(self.hold(name, doing, patience=PATIENCE))
            yield

    def is_held(self, name: str) -> bool:
        """Return whether any task holds the agent's lock."""
        lock = self._locks.get(name)
        return lock is not None and lock.free.locked()

    def is_held_elsewhere(self, name: str) -> bool:
        """Return whether a task other than the current one holds the agent's lock."""
        return self.is_held(name) and self._locks[name].owner is not asyncio.current_task()

    def check_held(self, name: str) -> None:
        """Raise `RuntimeError` unless the current task holds the agent's lock."""
        lock = self._locks.get(name)
        if lock is None or lock.owner is not asyncio.current_task():
            raise RuntimeError(f"the current task does not hold the lock of agent {name}")


async def _acquire(lock: _Lock, name: str, patience: float | None) -> None:
    try:
        async with asyncio.timeout(patience):
            await lock.free.acquire()
    except TimeoutError:
        raise NotNow(
            f"{name} is busy",
            f"{name} is {lock.doing}; cockpit makes one change to an agent at a time.",
            f"Try again in a few seconds. See: cockpit status {name}",
        ) from None
