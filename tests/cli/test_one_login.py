"""A command with `--host` logs in there once, and leaves no connection behind."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest

from cockpit.cli.commands import run

PATIENCE = 120.0
COUNTED = """echo $$ >> "$0"; exec "$@" """
TOO_OLD = """echo $$ >> "$0"; case "$*" in
*--multiplex*) echo "Error: No such option '--multiplex'." >&2; exit 2;;
*) exec "$@";;
esac"""
DIALOG = {"identity": "d1", "question": "Do you want to proceed?", "choices": [{"label": "Yes"}]}
DONE = {"message": "done"}
QUESTION = "Answer with 1? [y/N]: "
"""Its last space is printed immediately before the answer is read."""


class Gpu1:
    """A host whose logins are counted."""

    def __init__(self, home: Path, connect: list[str]) -> None:
        self._home = home
        self._note = home / "logins"
        self._connect = connect

    def configure(self, script: str = COUNTED) -> None:
        argv = json.dumps(["sh", "-c", script, str(self._note), *self._connect])
        text = f'[[hosts]]\nname = "gpu1"\nconnect = {argv}\n'
        (self._home / "here" / "cockpit.toml").write_text(text)

    @property
    def logins(self) -> list[int]:
        return [int(pid) for pid in self._note.read_text().split()] if self._note.exists() else []

    @property
    def connections(self) -> list[int]:
        """The logins whose process has not ended, or was not waited for."""
        return [pid for pid in self.logins if exists(pid)]


@pytest.fixture
def gpu1(own_home: Path, connect: Any, monkeypatch: Any) -> Gpu1:
    here = own_home / "here"
    here.mkdir(mode=0o700)
    monkeypatch.setenv("COCKPIT_HOME", str(here))
    monkeypatch.chdir(own_home)
    host = Gpu1(own_home, connect(own_home / "ck"))
    host.configure()
    return host


@contextmanager
def asked_at_a_terminal() -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """`cockpit answer` at its question, with the terminal in which it was typed."""
    master, terminal = pty.openpty()
    command = subprocess.Popen(
        [sys.executable, "-P", "-m", "cockpit", "answer", "api", "--choice", "1", "--host", "gpu1"],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    )
    os.close(terminal)
    try:
        shown = ""
        while QUESTION not in shown:
            shown += os.read(master, 4096).decode(errors="replace")
        yield command, master
    finally:
        command.kill()
        command.wait()
        os.close(master)


def exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def is_asleep(pid: int) -> bool:
    """Whether no thread of it computes: a thread that waits for another one sleeps too."""
    threads = psutil.Process(pid).threads()
    return all(psutil.Process(each.id).status() == psutil.STATUS_SLEEPING for each in threads)


def wait_until(true: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_dialog_is_read_and_answered_with_one_login(gpu1: Gpu1, answering: Any) -> None:
    answering.say("GET /v1/dialog/api", DIALOG)
    answering.say("POST /v1/answer", DONE)

    with asked_at_a_terminal() as (command, terminal):
        os.write(terminal, b"y\n")
        assert command.wait(PATIENCE) == 0

    assert [request for request, _ in answering.asked] == ["GET /v1/dialog/api", "POST /v1/answer"]
    assert len(gpu1.logins) == 1
    assert gpu1.connections == []


def test_ctrl_c_closes_the_connection(gpu1: Gpu1, answering: Any) -> None:
    answering.say("GET /v1/dialog/api", DIALOG)

    with asked_at_a_terminal() as (command, _):
        assert gpu1.connections == gpu1.logins
        # Python's `input` does not notice a signal that comes immediately before it reads, so a
        # user may have to press Ctrl-C again.
        code, end = None, time.monotonic() + PATIENCE
        while code is None and time.monotonic() < end:
            wait_until(lambda: command.poll() is not None or is_asleep(command.pid))
            command.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                code = command.wait(5)
        assert code == 130

    assert len(gpu1.logins) == 1
    assert gpu1.connections == []


def page(next_page: str | None) -> dict[str, Any]:
    chain = {"agent": "api", "job": "job-1", "goal": "Build it.", "sessions": []}
    return {"chains": [chain], "next": next_page, "total": 2}


def several_requests(answering: Any) -> list[tuple[list[str], int, int]]:
    """Commands with their exit codes and the number of their requests."""
    handoff = {"id": "5f0c0f0e-1", "document": "/only/there.md", "copy": None}
    session = {"session_id": "s-1", "runtime": "claude", "pid": 7, "directory": "/w"}
    event = {"id": 1, "at": "2026-11-21T20:15:00Z", "agent": "api", "kind": "agent.started",
             "text": "api began", "data": {}}  # fmt: skip
    found = {"chains": [{"agent": "api", "sessions": [{"id": "s", "handoffs": [handoff]}]}],
             "next": "p2", "total": 1}  # fmt: skip
    answering.say("GET /v1/history?limit=100", found)
    answering.say("GET /v1/history?limit=100&before=p2", page(None))
    answering.say("POST /v1/continue", DONE)
    answering.say("POST /v1/forget", DONE)
    answering.say("GET /v1/status?elsewhere=1", {"agents": [], "elsewhere": [session]})
    answering.say("POST /v1/adopt", DONE)
    answering.say("GET /v1/events?after=0&limit=200", event)
    answering.say("GET /v1/events?after=1&follow=1", b"")
    return [
        (["history", "--json"], 0, 2),
        (["continue", "5f0c"], 0, 3),
        (["forget", "api", "web"], 0, 2),
        (["adopt", "s-1", "--yes"], 0, 2),
        (["events", "--follow"], 4, 2),
    ]


@pytest.mark.parametrize(
    "which", range(5), ids=["history", "continue", "forget", "adopt", "events"]
)
def test_several_requests_are_one_login(which: int, gpu1: Gpu1, answering: Any) -> None:
    words, code, requests = several_requests(answering)[which]

    assert run([*words, "--host", "gpu1"]) == code

    assert len(answering.asked) == requests
    assert len(gpu1.logins) == 1
    assert gpu1.connections == []


def test_an_error_closes_the_connection(
    gpu1: Gpu1, answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["answer", "api", "--host", "gpu1"]) != 0

    assert answering.asked == [("GET /v1/dialog/api", None)]
    assert capsys.readouterr().err
    assert len(gpu1.logins) == 1
    assert gpu1.connections == []


def test_an_older_host_answers_each_request_with_a_login(gpu1: Gpu1, answering: Any) -> None:
    gpu1.configure(TOO_OLD)
    words, code, requests = several_requests(answering)[1]

    assert run([*words, "--host", "gpu1"]) == code

    assert len(answering.asked) == requests
    assert len(gpu1.logins) == requests + 1  # the first one found out
    wait_until(lambda: not gpu1.connections)


def test_the_only_request_to_an_older_host_is_one_login(gpu1: Gpu1, answering: Any) -> None:
    gpu1.configure(TOO_OLD)
    answering.say("POST /v1/stop", DONE)

    assert run(["stop", "api", "--host", "gpu1"]) == 0

    assert len(gpu1.logins) == 1
