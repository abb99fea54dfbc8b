"""Measure the disk space of worktrees, on request.

Measures one worktree at a time, for all requests together, because the agents use the disk too.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path

from cockpit.adapters.files.folder_size import FolderSize, folder_size
from cockpit.ports.slow_calls import NoAnswer, SlowCalls
from cockpit.wire.worktrees import WorktreeStatus

SECONDS = 5.0
"""Time limit in seconds for measuring one worktree."""
TOTAL_SECONDS = 30.0
"""Time limit of a request, in seconds. Worktrees that are not measured by then have no size."""
MOST_ENTRIES = 1_000_000
"""Maximum files and folders that are measured in one worktree."""
LATE = 1.0
"""A call counts as hanging if it has not returned this many seconds after its time limit."""


class WorktreeSizes:
    """Measures the disk space of worktrees, one worktree at a time."""

    def __init__(
        self,
        slow: SlowCalls,
        seconds: float = SECONDS,
        total_seconds: float = TOTAL_SECONDS,
        most: int = MOST_ENTRIES,
    ) -> None:
        self._slow = slow
        self._seconds = seconds
        self._total_seconds = total_seconds
        self._most = most
        self._turn = asyncio.Lock()

    async def measured(self, trees: Sequence[WorktreeStatus]) -> AsyncIterator[WorktreeStatus]:
        """Yield each worktree in order, with its size if it could be measured in time.

        Closing the iterator ends the measuring.
        """
        end = asyncio.get_running_loop().time() + self._total_seconds
        for tree in trees:
            size = None
            if not tree.missing and tree.unlisted is None:
                size = await self._size(Path(tree.directory), end)
            if size is None:
                yield tree
            else:
                update = {"size": size.size, "size_partial": not size.complete}
                yield tree.model_copy(update=update)

    async def _size(self, folder: Path, end: float) -> FolderSize | None:
        """Return the folder's size; None if it cannot be read before `end`, in the loop's time."""
        try:
            async with asyncio.timeout_at(end):
                await self._turn.acquire()
        except TimeoutError:
            return None
        stop = threading.Event()
        try:
            left = min(self._seconds, end - asyncio.get_running_loop().time())
            if left <= 0:
                return None
            call = partial(folder_size, folder, left, self._most, stop.is_set)
            return await self._slow.ask(("size", str(folder)), call, left + LATE)
        except (NoAnswer, OSError, ValueError):
            return None
        finally:
            stop.set()  # the thread of a request that was cancelled ends at its next file
            self._turn.release()
