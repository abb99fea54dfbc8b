"""A file that was renamed into a folder is noticed, by the kernel's word or by looking."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from cockpit.adapters.files.watched_folder import poll_folder, watch_folder

Watch = Callable[[Path, Callable[[], None]], Callable[[], None]]


async def until(heard: list[None], count: int) -> None:
    async with asyncio.timeout(120):
        while len(heard) < count:
            await asyncio.sleep(0.005)


def arrive(folder: Path, name: str) -> None:
    (folder / f".{name}").write_text("whole")
    (folder / f".{name}").rename(folder / name)


@pytest.mark.parametrize("watch", [watch_folder, poll_folder])
async def test_an_arrival_is_told_in_old_and_new_folders(watch: Watch, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()

    heard: list[None] = []
    stop = watch(tmp_path, lambda: heard.append(None))
    arrive(tmp_path / "old", "one")
    await until(heard, 1)
    heard.clear()
    (tmp_path / "new").mkdir()
    await until(heard, 1)
    heard.clear()
    arrive(tmp_path / "new", "two")
    await until(heard, 1)
    stop()
    stop()


async def test_nothing_is_told_after_the_end(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    ended: list[None] = []
    heard: list[None] = []
    stop_ended = watch_folder(tmp_path, lambda: ended.append(None))
    stop = watch_folder(tmp_path, lambda: heard.append(None))
    stop_ended()
    arrive(tmp_path / "old", "one")
    await until(heard, 1)
    stop()
    assert ended == []
