"""A folder whose files change is noticed, also one that appears later."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from cockpit.adapters.files import watched_entries
from cockpit.adapters.files.watched_entries import poll_entries, watch_entries

PATIENCE = 120.0
Way = Callable[[Path, Callable[[], None]], Callable[[], None]]


@pytest.fixture(params=[watch_entries, poll_entries], ids=["watched", "polled"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Way:
    monkeypatch.setattr(watched_entries, "POLL_SECONDS", 0.02)
    way: Way = request.param
    return way


async def noticed(way: Way, folder: Path, *steps: Callable[[], object]) -> None:
    """Each step must be noticed."""
    changed = asyncio.Event()
    stop = way(folder, changed.set)
    try:
        await settled()
        for step in steps:
            changed.clear()
            step()
            async with asyncio.timeout(PATIENCE):
                await changed.wait()
            await settled()
    finally:
        stop()


def settled() -> Awaitable[None]:
    """Let events of the last step arrive."""
    return asyncio.sleep(0.1)


async def test_every_change_of_a_file_is_noticed(way: Way, tmp_path: Path) -> None:
    note, other = tmp_path / "7.json", tmp_path / "7.new"
    other.write_text("two two")
    await noticed(
        way,
        tmp_path,
        lambda: note.write_text("one"),
        lambda: note.write_text("one more"),
        lambda: other.replace(note),
        lambda: note.unlink(),
    )


async def test_a_folder_may_appear_later_and_go(way: Way, tmp_path: Path) -> None:
    folder = tmp_path / "claude" / "sessions"

    def appear() -> None:
        folder.mkdir(parents=True)
        (folder / "7.json").write_text("one")

    def again() -> None:
        folder.mkdir()
        (folder / "8.json").write_text("one")

    await noticed(
        way,
        folder,
        appear,
        lambda: (folder / "7.json").write_text("two two"),
        lambda: (folder / "7.json").unlink(),
    )
    folder.rmdir()
    await noticed(way, folder, again)
