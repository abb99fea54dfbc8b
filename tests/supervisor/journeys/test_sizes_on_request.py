"""Sizes of worktrees over the real socket: the measuring ends when the client goes away."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from cockpit.adapters.files.folder_size import FolderSize, folder_size
from cockpit.supervisor import serving
from cockpit.supervisor.sessions import worktree_sizes
from tests.supervisor.conftest import Cockpit
from tests.supervisor.journeys.test_worktrees import done, worktree


async def test_a_client_that_disconnects_ends_the_measuring(
    cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended = threading.Event(), threading.Event()

    def endless(
        folder: Path, seconds: float, most: int, cancelled: Callable[[], bool]
    ) -> FolderSize:
        begun.set()
        while not cancelled():
            time.sleep(0.01)
        ended.set()
        return folder_size(folder, seconds, most, cancelled)

    monkeypatch.setattr(worktree_sizes, "folder_size", endless)
    patient = partial(worktree_sizes.WorktreeSizes, seconds=600.0, total_seconds=600.0)
    monkeypatch.setattr(serving, "WorktreeSizes", patient)
    async with cockpit.flying(cockpit.agent(mode="observe", steps=2, more=worktree())):
        await cockpit.start()
        await cockpit.until(done)
        request = asyncio.ensure_future(cockpit.client.worktrees(sizes=True))
        assert await asyncio.to_thread(begun.wait, 60)
        assert not ended.is_set()
        (listed,) = await cockpit.client.worktrees()  # does not wait for the sizes
        assert listed.size is None
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        assert await asyncio.to_thread(ended.wait, 60)
        monkeypatch.setattr(worktree_sizes, "folder_size", folder_size)
        (measured,) = await cockpit.client.worktrees(sizes=True)
        assert measured.size
        assert not measured.size_partial
