"""Live sessions by the files of Copilot: which count, and what of a file is believed."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cockpit.adapters.agents.copilot.other_sessions import OPEN_SESSIONS, CopilotSessions
from cockpit.adapters.agents.copilot.sessions import SESSIONS
from cockpit.adapters.agents.joined_sessions import JoinedSessions
from cockpit.adapters.process.process_table import entry
from cockpit.config.kernel import USES_LINUX
from cockpit.core.errors import BadUsage
from cockpit.ports.live_sessions import LiveSession, LiveSessions, NoLiveSessions
from cockpit.ports.runtimes import Activity

IDENT = "0b6e6c1e-6a3c-4a6e-9a51-2f4b1d0f6c11"


@pytest.fixture
def child(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has the mark of a session open, as Copilot has."""
    folder = tmp_path / SESSIONS / IDENT
    folder.mkdir(parents=True)
    with (folder / "hold").open("wb") as hold:
        process = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=hold)
    (folder / "hold").rename(folder / f"inuse.{process.pid}.hold")
    (folder / f"inuse.{process.pid}.lock").write_text(f"{process.pid}\n")
    tell(tmp_path)
    begin(tmp_path, "/work/here")
    yield process
    assert process.stdin is not None
    process.stdin.close()
    process.wait()


def tell(config: Path, told: object = None, ident: str = IDENT) -> None:
    """Write the list of open sessions."""
    told = {"openedAt": "2026-11-27T14:35:54.401Z", "working": False} if told is None else told
    (config / OPEN_SESSIONS).write_text(json.dumps({ident: told}))


def begin(config: Path, directory: object) -> None:
    """Write the first line of the transcript."""
    line = {"type": "session.start", "data": {"context": {"cwd": directory}}}
    (config / SESSIONS / IDENT / "events.jsonl").write_text(json.dumps(line) + "\n")


def found(config: Path) -> list[LiveSession]:
    return list(CopilotSessions({"COPILOT_HOME": str(config)}).look())


def test_an_open_session_is_found(tmp_path: Path, child: subprocess.Popen[bytes]) -> None:
    (session,) = found(tmp_path)
    process = entry(child.pid)
    assert process is not None
    assert (session.id, session.runtime) == (IDENT, "copilot")
    assert (session.pid, session.started) == (child.pid, process.started)
    assert (session.directory, session.activity) == (Path("/work/here"), Activity.IDLE)
    assert session.began == 1_795_790_154.401


@pytest.mark.parametrize(
    ("told", "activity"),
    [
        ({"working": True}, Activity.BUSY),
        ({"working": [1]}, Activity.UNKNOWN),
        ({"openedAt": 7}, Activity.UNKNOWN),
        ("nonsense", Activity.UNKNOWN),
    ],
)
def test_an_incomplete_list_says_less(
    tmp_path: Path, child: subprocess.Popen[bytes], told: object, activity: Activity
) -> None:
    tell(tmp_path, told)
    (session,) = found(tmp_path)
    assert (session.activity, session.began) == (activity, None)


def test_a_process_that_ended_has_no_session(
    tmp_path: Path, child: subprocess.Popen[bytes]
) -> None:
    child.kill()
    child.wait()
    assert found(tmp_path) == []


def test_a_mark_of_another_process_with_that_pid_does_not_count(
    tmp_path: Path, child: subprocess.Popen[bytes]
) -> None:
    folder = tmp_path / SESSIONS / IDENT
    ours = os.getpid()
    (folder / f"inuse.{ours}.hold").touch()
    mark = folder / f"inuse.{ours}.lock"
    mark.write_text(f"{ours}\n")
    os.utime(mark, (1.0, 1.0))  # written before this process started
    (folder / "inuse.1x.lock").touch()
    assert [session.pid for session in found(tmp_path)] == [child.pid]


@pytest.mark.parametrize("ident", ["../../x", "", IDENT.replace("0b", "0c")])
def test_only_listed_sessions_with_a_folder_are_found(
    tmp_path: Path, child: subprocess.Popen[bytes], ident: str
) -> None:
    tell(tmp_path, ident=ident)
    assert found(tmp_path) == []


@pytest.mark.parametrize(
    "directory", [None, "relative", "/nul\0", "/half \ud800", "/" + "x" * 5000]
)
def test_a_session_without_a_usable_directory_is_left_out(
    tmp_path: Path, child: subprocess.Popen[bytes], directory: Any
) -> None:
    begin(tmp_path, directory)
    assert found(tmp_path) == []


@pytest.mark.parametrize("text", ["", "[1]", "nonsense", "\0"])
def test_a_list_that_is_none_has_no_sessions(tmp_path: Path, text: str) -> None:
    (tmp_path / OPEN_SESSIONS).write_text(text)
    assert found(tmp_path) == []


@pytest.mark.skipif(not USES_LINUX, reason="descriptors of other processes are in /proc")
def test_a_mark_that_is_not_open_does_not_count(
    tmp_path: Path, child: subprocess.Popen[bytes]
) -> None:
    hold = tmp_path / SESSIONS / IDENT / f"inuse.{child.pid}.hold"
    hold.unlink()
    hold.touch()
    assert found(tmp_path) == []


def test_each_session_is_asked_of_its_own_cli(
    tmp_path: Path, child: subprocess.Popen[bytes]
) -> None:
    readers: dict[str, LiveSessions] = {
        "claude": NoLiveSessions(),
        "copilot": CopilotSessions({"COPILOT_HOME": str(tmp_path)}),
    }
    joined = JoinedSessions(lambda: readers)
    (session,) = joined.look()
    begin(tmp_path, str(tmp_path))
    with pytest.raises(BadUsage):
        joined.check_reopenable(session)
    (session,) = joined.look()
    joined.check_reopenable(session)
    assert joined.transcript(session) == tmp_path / SESSIONS / IDENT / "events.jsonl"
    assert joined.by_hand(session) == ("copilot", "--resume", IDENT)
