"""Live sessions by the locks of Codex: which count, and what of a transcript is believed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from cockpit.adapters.agents.codex import other_sessions
from cockpit.adapters.agents.codex.other_sessions import LOCKS, CodexSessions
from cockpit.adapters.process.process_table import entry
from cockpit.config.kernel import USES_LINUX
from cockpit.core.errors import BadUsage
from cockpit.ports.live_sessions import LiveSession
from cockpit.ports.runtimes import Activity

IDENT = "01a21e0f-c7fa-7020-a793-c8b39e86ad43"
OTHER = "01a21e10-ca83-75c1-aaa0-5c75fb892697"

pytestmark = pytest.mark.skipif(not USES_LINUX, reason="only Linux names the holder of a lock")

Open = Callable[..., subprocess.Popen[str]]


def record(config: Path, ident: str = IDENT) -> Path:
    return config / "sessions" / "2026" / "11" / "27" / f"rollout-2026-11-27T17-31-20-{ident}.jsonl"


def begin(
    config: Path, ident: str = IDENT, *, cwd: object = "/w/here", thread: str = "user"
) -> Path:
    """Write the first line of a transcript."""
    path = record(config, ident)
    path.parent.mkdir(parents=True, exist_ok=True)
    payload = {"id": ident, "cwd": cwd, "cli_version": "0.169.0", "thread_source": thread}
    path.write_text(line("session_meta", payload))
    return path


def line(kind: str, payload: dict[str, object]) -> str:
    text = {"timestamp": "2026-11-27T17:31:20.717Z", "ordinal": 0, "type": kind, "payload": payload}
    return json.dumps(text, separators=(",", ":")) + "\n"


HOLDER = """
import fcntl, json, sys
locks, records = json.loads(sys.stdin.readline())
files = [open(path, "ab") for path in locks + records]
for file in files[:len(locks)]:
    fcntl.flock(file, fcntl.LOCK_EX)
print("open", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def open_sessions(tmp_path: Path) -> Iterator[Open]:
    """Start a process that has sessions open, as Codex has: their locks and transcripts."""
    started: list[subprocess.Popen[str]] = []

    def start(*idents: str, words: Sequence[str] = ()) -> subprocess.Popen[str]:
        (tmp_path / LOCKS).mkdir(exist_ok=True)
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        locks = [str(tmp_path / LOCKS / f"{ident}.lock") for ident in idents]
        records = [str(record(tmp_path, ident)) for ident in idents]
        assert process.stdin is not None
        assert process.stdout is not None
        had = [path for path in records if Path(path).exists()]
        process.stdin.write(json.dumps([locks, had]) + "\n")
        process.stdin.flush()
        assert process.stdout.readline() == "open\n"
        return process

    yield start
    for each in started:
        each.communicate()


def found(config: Path) -> list[LiveSession]:
    return list(CodexSessions({"CODEX_HOME": str(config)}).look())


def test_an_open_session_is_found(tmp_path: Path, open_sessions: Open) -> None:
    path = begin(tmp_path)
    child = open_sessions(IDENT)
    (session,) = found(tmp_path)
    process = entry(child.pid)
    assert process is not None
    assert (session.id, session.runtime, session.version) == (IDENT, "codex", "0.169.0")
    assert (session.pid, session.started) == (child.pid, process.started)
    assert (session.directory, session.activity) == (Path("/w/here"), Activity.UNKNOWN)
    sessions = CodexSessions({"CODEX_HOME": str(tmp_path)})
    assert sessions.transcript(session) == path
    assert sessions.by_hand(session) == ("codex", "resume", IDENT)
    sessions.check_reopenable(session)
    with pytest.raises(BadUsage):
        sessions.check_reopenable(session, {"CODEX_HOME": str(tmp_path / "other")})


def test_the_last_turn_in_the_transcript_is_its_activity(
    tmp_path: Path, open_sessions: Open
) -> None:
    path = begin(tmp_path)
    open_sessions(IDENT)
    said = line("event_msg", {"type": "task_complete"}).strip()
    for kind, activity in (
        ("task_started", Activity.BUSY),
        ("task_complete", Activity.IDLE),
        ("task_started", Activity.BUSY),
        ("turn_aborted", Activity.IDLE),
        ("task_started", Activity.BUSY),
    ):
        with path.open("a") as file:
            file.write(line("event_msg", {"type": kind}))
            file.write(line("response_item", {"type": "message", "text": f"\n{said}\n"}))
        (session,) = found(tmp_path)
        assert session.activity is activity, kind


def test_a_lock_without_its_process_is_no_session(tmp_path: Path, open_sessions: Open) -> None:
    begin(tmp_path)
    child = open_sessions(IDENT)
    child.kill()
    child.wait()
    assert (tmp_path / LOCKS / f"{IDENT}.lock").exists()
    assert found(tmp_path) == []


def test_a_session_without_a_prompt_is_not_known_yet(tmp_path: Path, open_sessions: Open) -> None:
    open_sessions(IDENT)
    assert found(tmp_path) == []


def test_a_subagent_is_no_session_of_its_own(tmp_path: Path, open_sessions: Open) -> None:
    begin(tmp_path)
    begin(tmp_path, OTHER, thread="subagent")
    open_sessions(IDENT, OTHER)
    (session,) = found(tmp_path)
    assert session.id == IDENT


@pytest.mark.parametrize("cwd", [None, "relative", 7])
def test_a_transcript_without_a_directory_is_left_out(
    tmp_path: Path, open_sessions: Open, cwd: object
) -> None:
    begin(tmp_path, cwd=cwd)
    open_sessions(IDENT)
    assert found(tmp_path) == []


def test_a_process_with_several_sessions_must_not_be_ended_for_one(
    tmp_path: Path, open_sessions: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(other_sessions, "terminal", lambda _: "pts/1")
    begin(tmp_path)
    child = open_sessions(IDENT, OTHER)  # the other one was opened by /clear
    (session,) = found(tmp_path)
    assert session.obstacle is not None
    assert "2 sessions" in session.obstacle.reason
    child.kill()
    child.wait()
    open_sessions(IDENT)
    (session,) = found(tmp_path)
    assert session.obstacle is None


def test_a_background_process_must_not_be_ended_for_one_session(
    tmp_path: Path, open_sessions: Open
) -> None:
    begin(tmp_path)
    open_sessions(IDENT, words=["app-server", "--listen", "unix://"])
    (session,) = found(tmp_path)
    assert session.kind == "app-server"
    assert session.obstacle is not None
    assert "background process" in session.obstacle.reason


@pytest.mark.parametrize("words", [["exec", "its job"], ["mcp-server"], []])
def test_a_session_without_a_terminal_belongs_to_the_program_that_runs_it(
    tmp_path: Path, open_sessions: Open, monkeypatch: pytest.MonkeyPatch, words: Sequence[str]
) -> None:
    monkeypatch.setattr(other_sessions, "terminal", lambda _: "")
    begin(tmp_path)
    open_sessions(IDENT, OTHER, words=words)
    (session,) = found(tmp_path)
    assert session.obstacle is not None
    assert session.obstacle.reason == (
        "Codex runs the session without a terminal, for a script or another program."
    )
    assert session.obstacle.remedy == "Wait until that program has ended, or end it yourself"


def test_a_prompt_is_no_command(tmp_path: Path, open_sessions: Open) -> None:
    begin(tmp_path)
    open_sessions(IDENT, words=["--", "exec"])
    (session,) = found(tmp_path)
    assert session.kind == "interactive"


def test_a_file_that_is_no_lock_is_not_looked_at(tmp_path: Path, open_sessions: Open) -> None:
    begin(tmp_path)
    open_sessions(".coordination", "../x")
    assert found(tmp_path) == []
