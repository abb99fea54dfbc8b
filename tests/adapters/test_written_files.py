"""Of many watched files, those that were written are named."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from cockpit.adapters.files import inotify
from cockpit.adapters.files.written_files import WrittenFiles, watch_written
from cockpit.config.kernel import USES_LINUX

PATIENCE = 120.0

if not USES_LINUX:
    pytest.skip("needs inotify", allow_module_level=True)


class Told:
    """What a watch told so far."""

    def __init__(self, watch: WrittenFiles) -> None:
        self.files: set[Path] = set()
        self.lost = 0
        self._told = asyncio.Event()
        self.stop = watch.follow(self._take)

    def _take(self, files: set[Path] | None) -> None:
        if files is None:
            self.lost += 1
        else:
            self.files |= files
        self._told.set()

    async def until(self, *files: Path) -> None:
        async with asyncio.timeout(PATIENCE):
            while not self.files >= set(files):
                self._told.clear()
                await self._told.wait()


@pytest.fixture
async def watch() -> WrittenFiles:
    return WrittenFiles()


@pytest.fixture
async def told(watch: WrittenFiles) -> Iterator[Told]:  # type: ignore[misc]
    told = Told(watch)
    yield told
    told.stop()


async def test_only_watched_files_are_named(
    watch: WrittenFiles, told: Told, tmp_path: Path
) -> None:
    ours, other, later = tmp_path / "ours", tmp_path / "other", tmp_path / "sub" / "later"
    ours.touch()
    later.parent.mkdir()
    watch.add(ours)
    watch.add(later)
    other.write_text("x")
    with ours.open("a") as file:  # it stays open, as a transcript does
        file.write("line\n")
        file.flush()
        await told.until(ours)
    later.write_text("created")
    await told.until(later)
    assert told.files == {ours, later}
    assert watch.has(ours)
    assert not watch.has(other)


async def test_a_replaced_file_is_named(watch: WrittenFiles, told: Told, tmp_path: Path) -> None:
    ours, new = tmp_path / "ours", tmp_path / "new"
    watch.add(ours)
    new.write_text("x")
    new.replace(ours)
    await told.until(ours)


async def test_what_is_no_longer_kept_is_not_named(
    watch: WrittenFiles, told: Told, tmp_path: Path
) -> None:
    old, ours = tmp_path / "old", tmp_path / "ours"
    watch.add(old)
    watch.add(ours)
    watch.keep({ours})
    assert not watch.has(old)
    old.write_text("x")
    ours.write_text("x")
    await told.until(ours)
    assert told.files == {ours}


async def test_a_folder_that_goes_is_no_longer_watched_and_its_files_are_named(
    watch: WrittenFiles, told: Told, tmp_path: Path
) -> None:
    ours = tmp_path / "project" / "ours"
    ours.parent.mkdir()
    watch.add(ours)
    shutil.rmtree(ours.parent)
    await told.until(ours)
    assert not watch.has(ours)
    ours.parent.mkdir()
    told.files.clear()
    watch.add(ours)
    ours.write_text("again")
    await told.until(ours)


async def test_what_cannot_be_watched_is_refused(watch: WrittenFiles, tmp_path: Path) -> None:
    (tmp_path / "target").touch()
    (tmp_path / "link").symlink_to(tmp_path / "target")
    refused = {tmp_path / "missing" / "file": "No such file", tmp_path / "link": "symbolic link"}
    for file, why in refused.items():
        with pytest.raises(OSError, match=why):
            watch.add(file)
        assert not watch.has(file)
    watch.close()


async def test_events_that_were_dropped_stand_for_all_files(
    watch: WrittenFiles, told: Told, tmp_path: Path
) -> None:
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    ours, other = tmp_path / "ours", tmp_path / "other"
    watch.add(ours)
    with ours.open("wb", buffering=0) as one, other.open("wb", buffering=0) as two:
        for _ in range(limit):  # equal events in a row would be merged
            one.write(b"x")
            two.write(b"x")
    async with asyncio.timeout(PATIENCE):
        while not told.lost:
            await asyncio.sleep(0)


def test_without_inotify_there_is_no_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inotify, "USES_LINUX", False)
    assert watch_written() is None
