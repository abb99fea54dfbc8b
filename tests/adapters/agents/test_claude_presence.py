"""The CLI's note of a process is believed only of the process that wrote it."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cockpit.adapters.agents.claude.live_sessions import live_sessions, presence
from cockpit.ports.runtimes import Activity


@pytest.fixture
def child() -> Iterator[int]:
    process = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    yield process.pid
    assert process.stdin is not None
    process.stdin.close()
    process.wait()


def note(config: Path, pid: int, **changed: Any) -> None:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    said = {"pid": pid, "sessionId": "s-1", "procStart": fields[19], "updatedAt": 1500} | {
        "startedAt": int(time.time() * 1000),
        **changed,
    }
    (config / "sessions").mkdir(exist_ok=True)
    (config / "sessions" / f"{pid}.json").write_text(json.dumps(said))


@pytest.mark.parametrize(
    ("status", "activity"),
    [
        ("busy", Activity.BUSY),
        ("shell", Activity.IDLE),
        ("idle", Activity.IDLE),
        ("waiting", Activity.WAITING),
        ("something new", Activity.UNKNOWN),
        (None, Activity.UNKNOWN),
    ],
)
def test_the_status_is_told(
    tmp_path: Path, child: int, status: str | None, activity: Activity
) -> None:
    note(tmp_path, child, status=status, waitingFor="permission prompt")
    seen = presence(tmp_path, child)
    assert seen is not None
    assert (seen.activity, seen.waiting_for) == (activity, "permission prompt")
    assert (seen.session_id, seen.updated) == ("s-1", 1.5)
    assert live_sessions(tmp_path) == {"s-1": child}


def test_a_stale_note_is_nobodys(tmp_path: Path, child: int) -> None:
    note(tmp_path, child, procStart="1", startedAt=1_600_000_000_000, status="busy")
    assert presence(tmp_path, child) is None
    assert live_sessions(tmp_path) == {}


def test_the_note_of_a_wrappers_child_counts(tmp_path: Path, child: int) -> None:
    note(tmp_path, child, status="idle")
    seen = presence(tmp_path, os.getpid())
    assert seen is not None
    assert seen.activity is Activity.IDLE


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b'{"pid": "x"}', b'{"pid": 1}'])
def test_a_note_that_says_nothing_is_none(tmp_path: Path, child: int, content: bytes) -> None:
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions" / f"{child}.json").write_bytes(content)
    assert presence(tmp_path, child) is None


def test_without_notes_there_is_none(tmp_path: Path) -> None:
    assert presence(tmp_path, os.getpid()) is None
