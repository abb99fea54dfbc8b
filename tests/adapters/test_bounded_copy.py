"""Copies of files that an agent can change: no links, and limits of size, number and time."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from cockpit.adapters.files import bounded_copy
from cockpit.adapters.files.bounded_copy import DEEPEST, BoundedCopy, run_copy
from cockpit.core.errors import Failed

NAMES = ("events.jsonl", "more.yaml", "checkpoints")
LIMIT = 1024 * 1024
IDS = (b"11111111-1111", b"22222222-2222")


@pytest.fixture
def session(tmp_path: Path) -> Path:
    folder = tmp_path / "session"
    (folder / "checkpoints" / "inner").mkdir(parents=True)
    (folder / "events.jsonl").write_bytes(b"{" + IDS[0] + b"}\n" + IDS[0])
    (folder / "checkpoints" / "inner" / "1.md").write_bytes(IDS[0])
    (folder / "not named").write_text("x")
    return folder


def copied(session: Path) -> Path:
    target = session.parent / "copy"
    BoundedCopy().parts(session, NAMES, target, IDS)
    return target


def test_the_named_parts_are_copied_with_the_new_id(session: Path) -> None:
    copy = copied(session)
    found = {str(path.relative_to(copy)) for path in copy.rglob("*")}
    assert found == {"events.jsonl", "checkpoints", "checkpoints/inner", "checkpoints/inner/1.md"}
    assert (copy / "events.jsonl").read_bytes() == b"{" + IDS[1] + b"}\n" + IDS[1]
    assert (copy / "checkpoints" / "inner" / "1.md").read_bytes() == IDS[0]
    assert copy.stat().st_mode & 0o777 == 0o700


def test_an_id_across_two_parts_of_a_file_is_replaced(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_copy, "_CHUNK", 7)
    for before in range(15):
        (session / "events.jsonl").write_bytes(b"x" * before + IDS[0] * 3)
        copy = session.parent / f"copy-{before}"
        BoundedCopy().parts(session, NAMES, copy, IDS)
        assert (copy / "events.jsonl").read_bytes() == b"x" * before + IDS[1] * 3


@pytest.mark.parametrize("name", ["events.jsonl", "checkpoints", "checkpoints/inner", ""])
def test_no_link_is_followed(session: Path, name: str) -> None:
    place = session / name
    place.rename(session.parent / "elsewhere")
    place.symlink_to(session.parent / "elsewhere")
    with pytest.raises(Failed, match="Cannot copy"):
        copied(session)
    assert not list(session.parent.glob("copy/checkpoints/inner/*"))


def test_only_files_and_folders_are_copied(session: Path) -> None:
    os.mkfifo(session / "checkpoints" / "pipe")
    with pytest.raises(Failed, match="Cannot copy") as refused:
        copied(session)
    assert "is a named pipe, not a file" in refused.value.detail


def too_long(session: Path) -> None:
    with (session / "events.jsonl").open("wb") as file:
        file.truncate(LIMIT + 1)  # takes no room on the disk


def too_long_together(session: Path) -> None:
    for number in range(2):
        with (session / "checkpoints" / f"{number}.md").open("wb") as file:
            file.truncate(LIMIT // 2)


def too_many(session: Path) -> None:
    for number in range(bounded_copy.MOST_FILES):
        (session / "checkpoints" / f"{number}.md").touch()


def too_deep(session: Path) -> None:
    (session / "checkpoints" / "/".join("x" * DEEPEST)).mkdir(parents=True)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (too_long, "larger than 1 MiB"),
        (too_long_together, "larger than 1 MiB"),
        (too_many, "more than 2000 files"),
        (too_deep, "nested more than 8 deep"),
    ],
)
def test_a_large_session_is_refused_with_the_reason(
    session: Path, make: Callable[[Path], None], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_copy, "MOST_BYTES", LIMIT)
    make(session)
    with pytest.raises(Failed, match="The session is too large to copy") as refused:
        copied(session)
    assert reason in refused.value.detail


def test_one_file_is_copied_by_the_same_rules(session: Path) -> None:
    source, target = session / "events.jsonl", session.parent / "copy.jsonl"
    BoundedCopy().file(source, target)
    assert target.read_bytes() == source.read_bytes()
    with pytest.raises(Failed, match="Cannot copy"):
        BoundedCopy().file(source, target)
    (session / "link").symlink_to(source)
    with pytest.raises(Failed, match="symbolic link"):
        BoundedCopy().file(session / "link", session.parent / "other.jsonl")


async def test_a_copy_that_nobody_waits_for_ends(session: Path) -> None:
    may_go_on, ended, reasons = threading.Event(), asyncio.Event(), []
    loop = asyncio.get_running_loop()

    def copy_late(files: BoundedCopy) -> None:
        may_go_on.wait(60)
        try:
            files.file(session / "events.jsonl", session.parent / "copy.jsonl")
        except Failed as stopped:
            reasons.append(stopped.title)
        loop.call_soon_threadsafe(ended.set)

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await run_copy(copy_late)
    may_go_on.set()
    async with asyncio.timeout(120):
        await ended.wait()
    assert reasons == ["The session was not copied in time"]
