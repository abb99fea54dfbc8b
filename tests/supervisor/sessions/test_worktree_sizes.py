"""Sizes of worktrees: one after another, within limits, and ended with the request."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import TypeVar

import pytest

from cockpit.adapters.process.bounded_calls import BoundedCalls
from cockpit.supervisor.sessions.worktree_sizes import WorktreeSizes
from cockpit.wire.worktrees import WorktreeStatus

T = TypeVar("T")


def tree(folder: Path, **more: object) -> WorktreeStatus:
    plain = {"directory": str(folder), "repository": "/r", "made": True}
    return WorktreeStatus.model_validate(plain | more)


class HeldCalls(BoundedCalls):
    """Calls that wait for `go`, and are counted while they run."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()
        self.running = 0
        self.most = 0
        self.results: list[object] = []

    async def ask(self, key: Hashable, call: Callable[[], T], patience: float | None = None) -> T:
        def held() -> T:
            self.running += 1
            self.most = max(self.most, self.running)
            self.go.wait()
            try:
                result = call()
                self.results.append(result)
                return result
            finally:
                self.running -= 1

        return await super().ask(key, held, patience)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not condition():
            await asyncio.sleep(0)


async def measured(sizes: WorktreeSizes, *trees: WorktreeStatus) -> list[WorktreeStatus]:
    return [one async for one in sizes.measured(trees)]


@pytest.fixture
def full(tmp_path: Path) -> Path:
    folder = tmp_path / "full"
    folder.mkdir()
    for number in range(10):
        (folder / str(number)).write_bytes(os.urandom(10_000))
    return folder


async def test_what_cannot_be_read_has_no_size(full: Path, tmp_path: Path) -> None:
    sizes = WorktreeSizes(BoundedCalls(), 600.0, 600.0)
    link = tmp_path / "link"
    link.symlink_to(full)
    trees = [tree(full), tree(link), tree(tmp_path / "no"), tree(full, missing=True)]
    trees.append(tree(full, unlisted="broken"))
    first, *others = await measured(sizes, *trees)
    assert first.size is not None
    assert 100_000 < first.size < 200_000
    assert not first.size_partial
    assert others == trees[1:]


async def test_at_the_limit_of_files_the_size_is_the_least_one(full: Path) -> None:
    (one,) = await measured(WorktreeSizes(BoundedCalls(), 600.0, 600.0, most=3), tree(full))
    assert one.size_partial
    assert one.size is not None
    assert 30_000 <= one.size < 100_000


async def test_a_request_without_time_left_has_no_sizes(full: Path) -> None:
    (one,) = await measured(WorktreeSizes(BoundedCalls(), 600.0, 0.0), tree(full))
    assert one.size is None


async def test_a_folder_that_does_not_answer_has_no_size(full: Path) -> None:
    calls = HeldCalls()
    (one,) = await measured(WorktreeSizes(calls, 0.01, 600.0), tree(full))
    assert one.size is None
    calls.go.set()


async def test_two_requests_measure_one_worktree_at_a_time(full: Path) -> None:
    calls = HeldCalls()
    sizes = WorktreeSizes(calls, 600.0, 600.0)
    both = [asyncio.ensure_future(measured(sizes, tree(full), tree(full))) for _ in range(2)]
    await until(lambda: calls.running == 1)
    calls.go.set()
    results = await asyncio.gather(*both)
    assert calls.most == 1
    assert all(one.size is not None for result in results for one in result)


async def test_a_request_that_is_cancelled_ends_the_measuring(full: Path) -> None:
    calls = HeldCalls()
    sizes = WorktreeSizes(calls, 600.0, 600.0)
    request = asyncio.ensure_future(measured(sizes, tree(full)))
    await until(lambda: calls.running == 1)
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    calls.go.set()
    await until(lambda: calls.running == 0)
    (stopped,) = calls.results
    assert not getattr(stopped, "complete", True)
    (one,) = await measured(sizes, tree(full))
    assert one.size is not None
    assert not one.size_partial
