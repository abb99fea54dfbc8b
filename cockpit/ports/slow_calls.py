"""Blocking calls that may never return, each waited for only so long.

A path that an agent names can lie on a file system that hangs (FUSE, NFS, the files of a stopped
process). No system call can be called off, so such a call is left behind on its own thread.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Protocol, TypeVar

from cockpit.core.errors import Hindered

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class NoAnswer(Hindered):
    """The file system did not answer in time; the call goes on, and is asked for again later."""


class SlowCalls(Protocol):
    """Runs blocking calls off the event loop."""

    async def each(self, calls: Mapping[K, Callable[[], T]]) -> dict[K, T | Exception]:
        """Run the calls, one after the other; each key gets its result or its exception.

        One that does not return in time gets `NoAnswer`, and so does its key until that call has
        returned: then its result is the answer to the next call of that key. The others go on.
        """
        ...

    async def ask(self, key: Hashable, call: Callable[[], T], patience: float | None = None) -> T:
        """Run one call, with its own patience in seconds. Raises what it raised, or `NoAnswer`.

        The result of a call that returned too late is dropped; until then its key gets `NoAnswer`.
        """
        ...
