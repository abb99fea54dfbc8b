"""`cockpit hooks test`: as a user types it, with real programs and a real receiver."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.repositories import lay_repository


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return lay_repository(tmp_path / "project")


@pytest.fixture
def receiver() -> Iterator[HTTPServer]:
    """Takes every post, and keeps the last one's path and body."""

    class Taking(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers["content-length"])
            self.server.got = (self.path, self.rfile.read(size))  # type: ignore[attr-defined]
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    server = HTTPServer(("127.0.0.1", 0), Taking)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def _test(
    here: Path, name: str, event: str, *, named: bool = True
) -> subprocess.CompletedProcess[str]:
    words = ["--config", "cockpit.toml"] if named else []
    return subprocess.run(
        [sys.executable, "-m", "cockpit", *words, "hooks", "test", name, event],
        cwd=here, env=dict(os.environ), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def _write(here: Path, event: str, *lines: str) -> None:
    table = f'[[agents]]\nname = "api"\n[[agents.hooks.{event}]]\n'
    (here / "cockpit.toml").write_text(table + "\n".join(lines) + "\n")


def _program(here: Path, body: str) -> None:
    (here / "hook").write_text(f"#!/bin/sh\n{body}\n")
    (here / "hook").chmod(0o755)


SHELL = ('type = "shell"', 'name = "save"', 'command = ["./hook"]', 'timeout = "2s"')


def test_a_program_is_told_a_sample_and_its_answer_is_explained(here: Path) -> None:
    _write(here, "on_context_threshold", *SHELL)
    _program(here, 'cat; echo aside >&2; echo \'{"decision": "abort", "document": "d.md"}\'')
    done = _test(here, "save", "context_threshold")
    assert done.returncode == 0
    told = json.loads(done.stdout.splitlines()[0])
    assert told["hook_event_name"] == "context_threshold"
    assert told["cwd"] == str(here)
    assert "decision: abort" in done.stderr
    assert "document: d.md" in done.stderr
    assert "aside" in done.stderr


def test_one_that_fails_ends_with_1(here: Path) -> None:
    _write(here, "on_error", *SHELL)
    _program(here, "exit 9")
    done = _test(here, "api", "on_error")
    assert done.returncode == 1
    assert "exit code 9 after" in done.stderr
    _program(here, "sleep 60")
    assert "timed out (2 s)" in _test(here, "save", "error").stderr


def test_a_failure_ends_the_rest_where_the_hook_says_so(here: Path) -> None:
    _program(here, f"echo $1 >> {here}/ran; exit $1")
    tables = [
        f'[[agents]]\nname = "{agent}"\n'
        + "".join(
            f'[[agents.hooks.on_error]]\ntype = "shell"\nname = "{agent}{number}"\n'
            f'command = ["./hook", "{number}"]\ncontinue_on_error = {goes_on}\n'
            for number, goes_on in ((1, "true"), (2, "false"), (3, "true"))
        )
        for agent in ("api", "web")
    ]
    (here / "cockpit.toml").write_text("".join(tables))
    done = _test(here, "api", "on_error")
    assert done.returncode == 1
    assert (here / "ran").read_text() == "1\n2\n"
    assert "not run: api2 failed with continue_on_error = false" in done.stderr
    assert _test(here, "web3", "on_error").returncode == 1
    assert (here / "ran").read_text() == "1\n2\n3\n"


def test_what_it_prints_cannot_reach_the_terminal(here: Path) -> None:
    _write(here, "on_error", *SHELL)
    _program(here, "printf 'a\\033]0;x\\007b\\n'")
    assert _test(here, "save", "error").stdout == "ab\n"


def test_a_message_is_really_sent(here: Path, receiver: HTTPServer) -> None:
    url = f"http://127.0.0.1:{receiver.server_port}/x"
    lines = ['type = "slack"', f'url = "{url}"', "allow_private = true"]
    _write(here, "on_needs_you", *lines)
    done = _test(here, "slack", "on_needs_you")
    assert done.returncode == 0
    assert "delivered (204)" in done.stderr
    path, body = receiver.got  # type: ignore[attr-defined]
    assert path == "/x"
    assert "a sample event" in json.loads(body)["text"]


def test_a_slack_bot_that_gets_no_answer_of_slacks_fails(here: Path, receiver: HTTPServer) -> None:
    url = f"http://127.0.0.1:{receiver.server_port}/chat.postMessage"
    bot = ['type = "slack"', 'token = "xoxb-1"', 'channel_id = "C0123"', "threads = true"]
    _write(here, "on_needs_you", *bot, f'url = "{url}"', "allow_private = true")
    done = _test(here, "slack", "on_needs_you")
    assert done.returncode == 1
    assert "the response is not from Slack" in done.stderr
    _, body = receiver.got  # type: ignore[attr-defined]
    assert json.loads(body)["channel"] == "C0123"


def test_an_unknown_event_or_hook_is_answered_with_what_there_is(here: Path) -> None:
    _write(here, "on_error", *SHELL)
    wrong = _test(here, "save", "on_eror")
    assert wrong.returncode == 2
    assert "Did you mean on_error?" in wrong.stderr
    nobody = _test(here, "other", "on_error")
    assert nobody.returncode == 2
    assert "save (on_error)" in nobody.stderr


def test_a_file_that_is_not_trusted_runs_nothing(here: Path) -> None:
    _write(here, "on_error", *SHELL)
    _program(here, f": > {here}/ran")
    held = _test(here, "save", "on_error", named=False)
    assert held.returncode == 2
    assert "config trust" in held.stderr
    assert not (here / "ran").exists()


def test_the_schema_has_the_payload(here: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cockpit", "config", "schema"],
        cwd=here, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    payload = json.loads(done.stdout)["$defs"]["HookPayload"]
    assert "original_prompt" in payload["required"]
