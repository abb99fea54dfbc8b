"""Blocking calls that may never return, with a time limit.

A path from an agent can be on a file system that hangs (FUSE, NFS, the files of a stopped process).
A system call cannot be cancelled, so a call that hangs keeps its own thread.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Protocol, TypeVar

from cockpit.core.errors import OsProblem

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class NoAnswer(OsProblem):
    """The file system did not answer in time. The call is still running; try again later."""


class SlowCalls(Protocol):
    """Runs blocking calls off the event loop."""

    async def each(self, calls: Mapping[K, Callable[[], T]]) -> dict[K, T | Exception]:
        """Run the calls in sequence; each key gets the result or the exception of its call.

        If a call does not return in time, its key gets `NoAnswer`. Until that call returns, later
        calls with the same key are not run and get `NoAnswer` too. Then the next call with the key
        is not run either, and gets the late result. Other keys are not affected.
        """
        ...

    async def ask(self, key: Hashable, call: Callable[[], T], patience: float | None = None) -> T:
        """Run one call, with a time limit in seconds. Raises the call's exception, or `NoAnswer`.

        With `patience` None, the time limit is the default, which `each` also uses. The result
        of a late call is discarded. Until that call returns, calls with the same key raise
        `NoAnswer`.
        """
        ...
