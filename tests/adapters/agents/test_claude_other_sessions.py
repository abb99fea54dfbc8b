"""Live sessions by the notes of Claude Code: which count, and what of a note is believed."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cockpit.adapters.agents.claude.other_sessions import ClaudeSessions
from cockpit.adapters.process.process_table import entry
from cockpit.core.errors import BadUsage
from cockpit.ports.live_sessions import LiveSession
from cockpit.ports.runtimes import Activity

IDENT = "0b6e6c1e-6a3c-4a6e-9a51-2f4b1d0f6c11"


@pytest.fixture
def child() -> Iterator[int]:
    process = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    yield process.pid
    assert process.stdin is not None
    process.stdin.close()
    process.wait()


def noted(config: Path, pid: int, **changed: Any) -> list[LiveSession]:
    """The sessions that are found with this note."""
    process = entry(pid)
    assert process is not None
    note = {
        "pid": pid,
        "sessionId": IDENT,
        "cwd": "/w/here",
        "startedAt": int(time.time() * 1000),
        "procStart": str(process.started),
        "kind": "interactive",
        "version": "2.1.330",
        "status": "waiting",
        "waitingFor": "permission prompt",
        "statusUpdatedAt": 1500,
    } | changed
    (config / "sessions").mkdir(exist_ok=True)
    (config / "sessions" / f"{pid}.json").write_text(json.dumps(note))
    return list(ClaudeSessions({"CLAUDE_CONFIG_DIR": str(config)}).look())


def test_a_note_is_a_session(tmp_path: Path, child: int) -> None:
    (found,) = noted(tmp_path, child)
    assert (found.id, found.pid, found.directory) == (IDENT, child, Path("/w/here"))
    assert (found.activity, found.waiting_for) == (Activity.WAITING, "permission prompt")
    assert (found.kind, found.version, found.changed) == ("interactive", "2.1.330", 1.5)
    process = entry(child)
    assert process is not None
    assert found.started == process.started


@pytest.mark.parametrize(
    "changed",
    [
        {"procStart": "1", "startedAt": 1_600_000_000_000},
        {"sessionId": "../../x"},
        {"sessionId": None},
        {"cwd": None},
        {"cwd": "relative"},
        {"cwd": "/nul\0"},
        {"cwd": "/half \ud800"},
        {"cwd": "/" + "x" * 5000},
    ],
    ids=str,
)
def test_a_note_that_cannot_be_true_is_none(
    tmp_path: Path, child: int, changed: dict[str, Any]
) -> None:
    assert noted(tmp_path, child, **changed) == []


@pytest.mark.parametrize("value", ["soon", True, -1, 1e300, None, [1]])
def test_what_is_no_time_is_unknown(tmp_path: Path, child: int, value: object) -> None:
    (found,) = noted(tmp_path, child, statusUpdatedAt=value, kind=value, waitingFor=value)
    assert found.changed is None
    assert found.waiting_for in (None, "soon")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run a process as another user")
def test_another_users_process_is_left_out(tmp_path: Path) -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, user=65534) as process:
        assert noted(tmp_path, process.pid) == []
        assert process.stdin is not None
        process.stdin.close()


def test_a_note_that_is_no_file_is_left_out(tmp_path: Path, child: int) -> None:
    noted(tmp_path, child)
    note = tmp_path / "sessions" / f"{child}.json"
    note.unlink()
    os.mkfifo(note)
    assert list(ClaudeSessions({"CLAUDE_CONFIG_DIR": str(tmp_path)}).look()) == []


def test_without_a_transcript_nothing_can_be_reopened(tmp_path: Path, child: int) -> None:
    (found,) = noted(tmp_path, child, cwd=str(tmp_path))
    sessions = ClaudeSessions({"CLAUDE_CONFIG_DIR": str(tmp_path)})
    with pytest.raises(BadUsage):
        sessions.check_reopenable(found)
    path = sessions.transcript(found)
    assert path is not None
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"cwd": "/elsewhere"}) + "\n")
    with pytest.raises(BadUsage):
        sessions.check_reopenable(found)
    path.write_text(json.dumps({"cwd": str(tmp_path)}) + "\n")
    sessions.check_reopenable(found)
    assert sessions.by_hand(found) == ("claude", "--resume", IDENT)
