"""The disk space of a folder, compared with `du`, and its limits."""

from __future__ import annotations

import os
import subprocess
from itertools import count
from pathlib import Path

import pytest

from cockpit.adapters.files.folder_size import BLOCK, FolderSize, folder_size


def measured(folder: Path, *, seconds: float = 600.0, most: int = 1_000_000) -> FolderSize:
    return folder_size(folder, seconds, most, lambda: False)


def du(folder: Path) -> int:
    """Return the bytes that `du -x` counts; with POSIXLY_CORRECT its unit is 512 bytes."""
    words = ["du", "-s", "-x", str(folder)]
    environment = os.environ | {"POSIXLY_CORRECT": "1"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    return int(done.stdout.split()[0]) * BLOCK


def test_it_is_what_du_says(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(os.urandom(3_000_000))
    top = tmp_path / "top"
    deep = top / "a" / "b" / "c\nd\udce9"
    deep.mkdir(parents=True)
    (deep / "file").write_bytes(os.urandom(100_000))
    (top / "empty").touch()
    (top / "hard").hardlink_to(deep / "file")
    (top / "to-file").symlink_to(outside)
    (top / "to-folder").symlink_to(tmp_path)
    (top / "loop").symlink_to(top)
    os.mkfifo(top / "pipe")
    with (top / "sparse").open("wb") as file:
        file.truncate(5_000_000_000)
    found = measured(top)
    assert found == FolderSize(du(top), complete=True)
    assert 100_000 < found.size < 1_000_000


def test_the_folder_itself_is_not_followed_if_it_is_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(NotADirectoryError):
        measured(tmp_path / "link")
    with pytest.raises(FileNotFoundError):
        measured(tmp_path / "missing")


@pytest.mark.skipif(
    not Path("/dev/shm").is_dir() or Path("/dev/shm").stat().st_dev == Path("/dev").stat().st_dev,
    reason="needs a file system mounted inside another one",
)
def test_other_file_systems_are_not_entered() -> None:
    other = Path("/dev/shm") / f"cockpit-size-{os.getpid()}"
    other.write_bytes(os.urandom(4_000_000))
    try:
        assert measured(Path("/dev/shm")).size >= 4_000_000
        assert measured(Path("/dev")).size < 4_000_000
    finally:
        other.unlink()


def test_at_a_limit_it_is_the_least_size(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / str(number)).write_bytes(os.urandom(10_000))
    whole = measured(tmp_path)
    assert whole.complete
    assert measured(tmp_path, most=20) == whole
    part = measured(tmp_path, most=5)
    assert not part.complete
    assert 50_000 <= part.size < whole.size
    ticks = count()
    late = folder_size(tmp_path, 5.0, 1_000, lambda: False, now=lambda: float(next(ticks)))
    assert not late.complete
    assert 40_000 <= late.size < whole.size


def test_it_stops_when_it_is_cancelled(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / str(number)).write_bytes(os.urandom(10_000))
    asked = count()
    part = folder_size(tmp_path, 600.0, 1_000, lambda: next(asked) >= 3)
    assert not part.complete
    assert 30_000 <= part.size < 50_000 + 10_000


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every folder")
def test_a_folder_inside_that_cannot_be_read_makes_it_a_least_size(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o000)
    assert not measured(tmp_path).complete


def test_a_path_that_is_too_long_makes_it_a_least_size(tmp_path: Path) -> None:
    handle = os.open(tmp_path, os.O_RDONLY)
    try:
        for _ in range(25):
            os.mkdir("n" * 200, dir_fd=handle)
            inner = os.open("n" * 200, os.O_RDONLY, dir_fd=handle)
            os.close(handle)
            handle = inner
        assert not measured(tmp_path).complete
    finally:
        os.close(handle)
        subprocess.run(["rm", "-rf", str(tmp_path / ("n" * 200))], check=True)
