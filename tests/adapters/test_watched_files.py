"""Files that may be another one: however it comes about, it is told; nothing else is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from cockpit.adapters.files.watched_files import poll_files, watch_files
from cockpit.config.kernel import USES_LINUX

Watching = Callable[[Sequence[Path], Callable[[], None]], Callable[[], None]]
PATIENCE = 120.0


def written(file: Path) -> None:
    file.write_text("written in place")


def replaced(file: Path) -> None:
    beside = file.with_name("beside")
    beside.write_text("a new file in its place")
    beside.replace(file)


def gone(file: Path) -> None:
    file.unlink()


def closed_to_others(file: Path) -> None:
    file.chmod(0o600)


async def reported(watch: Watching, file: Path, change: Callable[[Path], None]) -> None:
    """Change the file and wait until the watch reports it."""
    heard = asyncio.Event()
    stop = watch([file], heard.set)
    try:
        change(file)
        await asyncio.wait_for(heard.wait(), PATIENCE)
    finally:
        stop()


@pytest.mark.parametrize("watch", [watch_files, poll_files])
@pytest.mark.parametrize("change", [written, replaced, gone, closed_to_others])
async def test_every_way_of_changing_a_file_is_told(
    watch: Watching, change: Callable[[Path], None], tmp_path: Path
) -> None:
    file = tmp_path / "cockpit.toml"
    file.write_text("")
    file.chmod(0o644)
    await reported(watch, file, change)


async def test_a_file_whose_folder_is_not_there_yet_is_told_of(tmp_path: Path) -> None:
    file = tmp_path / "config" / "cockpit" / "cockpit.toml"

    heard = asyncio.Event()
    stop = watch_files([file], heard.set)
    for there in (file.parent.parent, file.parent):
        there.mkdir()
        if USES_LINUX:  # polling looks at the file alone
            await asyncio.wait_for(heard.wait(), PATIENCE)
            heard.clear()
    file.write_text("at last")
    await asyncio.wait_for(heard.wait(), PATIENCE)
    stop()


async def test_what_a_link_leads_to_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    target = tmp_path / "dotfiles" / "flight.toml"
    target.write_text("")
    link = tmp_path / "cockpit.toml"
    link.symlink_to(target)
    await reported(watch_files, link, lambda _link: replaced(target))


async def test_another_file_of_the_folder_is_nobodys_business(tmp_path: Path) -> None:
    file = tmp_path / "cockpit.toml"
    file.write_text("")
    heard: list[str] = []

    stop = watch_files([file], lambda: heard.append("told"))
    (tmp_path / "other.toml").write_text("x")
    seen = asyncio.Event()
    also = watch_files([tmp_path / "last"], seen.set)
    (tmp_path / "last").write_text("x")
    await asyncio.wait_for(seen.wait(), PATIENCE)
    also()
    stop()
    stop()
    assert heard == []
