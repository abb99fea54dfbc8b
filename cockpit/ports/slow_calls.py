"""Blocking calls that may never return, with a time limit.

A path that an agent names can be on a file system that hangs (FUSE, NFS, the files of a stopped
process). A system call cannot be cancelled, so such a call is left on its own thread.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Protocol, TypeVar

from cockpit.core.errors import Hindered

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class NoAnswer(Hindered):
    """The file system did not answer in time. The call still runs; ask again later."""


class SlowCalls(Protocol):
    """Runs blocking calls off the event loop."""

    async def each(self, calls: Mapping[K, Callable[[], T]]) -> dict[K, T | Exception]:
        """Run the calls one after the other; each key gets its result or its exception.

        A call that does not return in time gives `NoAnswer`, as do later calls of that key until
        it returns: then its result answers the next call of that key. The other calls run.
        """
        ...

    async def ask(self, key: Hashable, call: Callable[[], T], patience: float | None = None) -> T:
        """Run one call, with its own time limit in seconds. Raises its exception, or `NoAnswer`.

        The result of a late call is dropped; until it returns, its key gets `NoAnswer`.
        """
        ...
