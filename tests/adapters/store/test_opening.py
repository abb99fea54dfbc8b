"""A sound database is never moved aside: not for a lock, not for a full disk, not for a link."""

from __future__ import annotations

import errno
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from cockpit.adapters.store import database_file
from cockpit.adapters.store.store import Store
from cockpit.core.errors import Failed
from cockpit.core.ids import AgentName
from cockpit.ports.records import AgentRecord

AGENT = AgentRecord(AgentName("api"), {"mode": "auto"}, None, True, "/w")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with closing(Store(tmp_path / "cockpit.db").open()) as store:
        store.save_agent(AGENT)
    return tmp_path / "cockpit.db"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another program has the database for itself, as a copy or a repair has."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("pragma locking_mode = exclusive")
        other.execute("begin exclusive")
        yield


def files(path: Path) -> list[str]:
    return sorted(each.name for each in path.parent.iterdir() if "-" not in each.suffix)


def test_a_lock_is_said_and_moves_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_file, "LOCK_SECONDS", 0.05)
    with locked(path), pytest.raises(Failed, match="Cannot open") as refused:
        Store(path).open()

    assert "Another process has locked the file" in refused.value.detail
    assert refused.value.hint.endswith(f"fuser {path}")
    assert files(path) == ["cockpit.db"]
    with closing(Store(path).open()) as store:
        assert (store.agents(), store.put_aside) == ([AGENT], None)


PROGRAM = """
import resource, signal, sys
from pathlib import Path
from cockpit.adapters.store.store import Store
from cockpit.core.errors import Failed
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
try:
    Store(Path(sys.argv[1])).open()
except Failed as refused:
    print(refused.title, "|", refused.detail, "|", refused.hint)
"""


def test_a_full_disk_is_said_and_moves_nothing(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path)], capture_output=True, text=True, check=True
    )

    assert done.stdout.startswith(f"Cannot open {path} | ")
    assert "Check the free disk space" in done.stdout
    assert files(path) == ["cockpit.db"]
    with closing(Store(path).open()) as store:
        assert (store.agents(), store.put_aside) == ([AGENT], None)


@pytest.mark.parametrize("what", ["a link", "a folder"])
def test_what_is_no_file_is_said_and_left_alone(path: Path, what: str) -> None:
    other = path.with_name("other.db")
    if what == "a link":
        other.symlink_to(path)
    else:
        other.mkdir()

    with pytest.raises(Failed, match="Cannot open") as refused:
        Store(other).open()

    assert "Move this link or folder away" in refused.value.hint
    assert other.is_symlink() or other.is_dir()


def test_nobody_is_told_to_move_a_database_that_they_may_not_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", refuse)
        with pytest.raises(Failed, match="Cannot open") as refused:
            Store(path).open()

    assert refused.value.detail == "Permission denied."
    assert "permissions" in refused.value.hint
    assert "Move" not in refused.value.hint
