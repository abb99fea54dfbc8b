"""`--host`: every command of another machine, which here is another folder of this one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cockpit.cli.commands import run

Typed = Callable[..., int]

EVENT = {"id": 1, "at": "2026-11-21T20:15:00Z", "agent": "api", "kind": "agent.started",
         "text": "api began", "data": {}}  # fmt: skip


@pytest.fixture
def typed(own_home: Path, connect: Any, monkeypatch: Any) -> Typed:
    """Runs a command with `--host gpu1`, in a cockpit of its own that has no supervisor."""
    here, there = own_home / "here", own_home / "ck"
    here.mkdir(mode=0o700)
    argv = json.dumps(connect(there))
    (here / "cockpit.toml").write_text(f'[[hosts]]\nname = "gpu1"\nconnect = {argv}\n')
    monkeypatch.setenv("COCKPIT_HOME", str(here))
    monkeypatch.chdir(own_home)
    return lambda *words, host="gpu1": run([*words, "--host", host])


def row(name: str) -> dict[str, Any]:
    return {"name": name, "runtime": "claude", "directory": "/w", "mode": "prompt",
            "strategy": "handoff", "max_handoffs": 3, "state": "working",
            "context": {}, "needs": None, "handoff": None}  # fmt: skip


def test_status_is_of_that_machine_and_says_which(
    typed: Typed, answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    answering.say("GET /v1/status", {"version": 1, "host": "local", "agents": [row("far")]})

    assert typed("status", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["host"], said["agents"][0]["name"]) == ("gpu1", "far")
    assert typed("status", "far") == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("far ")
    assert typed("status", "near") == 3


def test_watching_ends_with_that_supervisor(
    typed: Typed, answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    snapshot = {"type": "snapshot", "status": {"agents": [row("far")]}}
    answering.say("GET /v1/watch?beat=10&day=1", json.dumps(snapshot).encode() + b"\n")

    assert typed("status", "--watch") == 4

    said = capsys.readouterr()
    assert said.out.startswith("far ")
    assert "Lost connection to the supervisor on gpu1" in said.err


@pytest.mark.parametrize(
    ("words", "request_", "body"),
    [
        (["stop", "api"], "POST /v1/stop", {"name": "api"}),
        (["send", "api", "go on"], "POST /v1/send", {"name": "api", "text": "go on"}),
        (
            ["handoff", "api", "--now"],
            "POST /v1/handoff",
            {"name": "api", "now": True, "by_agent": False, "dry_run": False},
        ),
        (["approve", "api"], "POST /v1/approve", {"name": "api", "straight": False, "by": ""}),
        (["refuse", "api"], "POST /v1/refuse", {"name": "api", "compact": False, "by": ""}),
        (["snooze", "api", "1h"], "POST /v1/snooze", {"name": "api", "seconds": 3600.0}),
        (["undo", "api"], "POST /v1/undo", {"name": "api", "by": ""}),
        (
            ["start", "api", "--directory", "/only/there"],
            "POST /v1/start",
            {
                "name": "api",
                "directory": "/only/there",
                "worktree": False,
                "named": False,
                "force": False,
                "apart": False,
            },
        ),
        (
            ["continue", "/only/there.md", "--name", "b"],
            "POST /v1/continue",
            {"document": "/only/there.md", "name": "b", "named": False},
        ),
        (
            ["worktrees", "remove", "api"],
            "POST /v1/remove_worktree",
            {"tree": "api", "salvage": False, "salvage_only": False, "leave_out": []},
        ),
        (["worktrees"], "GET /v1/worktrees?sizes=1", None),
        (["history", "--json"], "GET /v1/history?limit=100", None),
        (["show", "/only/there.md"], "GET /v1/document/%2Fonly%2Fthere.md", None),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_command_asks_that_supervisor_and_says_nothing_of_files_here(
    words: list[str], request_: str, body: Any, typed: Typed, answering: Any, monkeypatch: Any
) -> None:
    # Inside a pane of this machine, which is not the agent of that name there.
    monkeypatch.setenv("COCKPIT_AGENT", "api")
    said: Any = {"message": "done"} if body is not None else []
    answering.say(request_, said)

    assert typed(*words) == 0

    assert answering.asked == [(request_, body)]


def test_a_document_there_is_found_by_its_id(typed: Typed, answering: Any) -> None:
    handoff = {"id": "5f0c0f0e-1", "document": "/only/there.md", "copy": None}
    chain = {"agent": "api", "sessions": [{"id": "s", "handoffs": [handoff]}]}
    answering.say("GET /v1/history?limit=100", [chain])
    answering.say("POST /v1/continue", {"message": "done"})

    assert typed("continue", "5f0c") == 0

    assert answering.asked[-1][1]["document"] == "/only/there.md"


def test_events_are_followed_there(
    typed: Typed, answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    said = json.dumps({**EVENT, "id": 2, "text": "and on"}).encode() + b"\n"
    answering.say("GET /v1/events?after=0&limit=200", EVENT)
    answering.say("GET /v1/events?after=1&follow=1", said)

    assert typed("events", "--follow") == 4

    heard = capsys.readouterr()
    assert [line[-8:].strip() for line in heard.out.splitlines()] == ["pi began", "and on"]
    assert "Lost connection to the supervisor on gpu1" in heard.err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["start", "api", "--directory", "."], "absolute path on gpu1"),
        (["show", "./notes.md"], "absolute path on gpu1"),
        (["continue", "notes.md"], "The document must be an absolute path on gpu1"),
        (["continue", "./5f0c"], "The document must be an absolute path on gpu1"),
        (["worktrees", "remove", ".worktrees/api"], "absolute path on gpu1"),
        (["handoff", "api", "--document", __file__], "a file on this machine"),
        (["usage", __file__], "only works on this machine"),
        (["config", "check"], "only works on this machine"),
        (["serve"], "only works on this machine"),
        (["dial-stdio"], "only works on this machine"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_about_files_here_says_so(
    words: list[str], why: str, typed: Typed, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed(*words) == 2
    assert why in capsys.readouterr().err


def test_a_new_agent_there_needs_a_directory_of_that_machine(
    typed: Typed, answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    unknown = {"title": "no agent named 'api' is configured", "exit_code": 3}
    answering.say("POST /v1/start", unknown, status=404)

    assert typed("start", "api") == 3

    said = capsys.readouterr().err
    assert "cockpit start api --host gpu1 --directory /path/on/gpu1" in said


def test_the_first_agent_of_a_host_is_started_there(
    typed: Typed, answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    answering.say("GET /v1/status", {"agents": []})

    assert typed("status") == 0

    assert "cockpit start NAME --host gpu1 --directory DIR" in capsys.readouterr().out


def test_a_host_goes_before_the_command_too(
    typed: Typed, answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    answering.say("GET /v1/status", {"agents": [row("far")]})

    assert run(["--host", "gpu1", "status"]) == 0
    assert run(["--host", "gpu1", "keys"]) == 2


def test_names_and_reasons(typed: Typed, capsys: pytest.CaptureFixture[str]) -> None:
    assert typed("status", host="gpu2") == 2
    assert "Known: local, gpu1." in capsys.readouterr().err
    assert typed("status", host="local") == 4
    assert "gpu1" not in capsys.readouterr().err
    assert typed("stop", "api") == 4
    said = capsys.readouterr().err
    assert "No supervisor is running on gpu1" in said
    assert "cockpit up" in said


def test_a_host_of_a_file_that_was_found_is_held(
    own_home: Path, monkeypatch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(own_home)
    marker = own_home / "ran"
    (own_home / "cockpit.toml").write_text(
        f'[[hosts]]\nname = "gpu1"\nconnect = ["touch", "{marker}"]\n'
    )

    assert run(["status", "--host", "gpu1"]) == 2

    assert "cockpit config trust" in capsys.readouterr().err
    assert not marker.exists()


def test_up_and_down_are_run_there(
    typed: Typed, own_home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def there(*words: str) -> tuple[int, str]:
        pid = os.fork()
        if not pid:
            os._exit(typed(*words))
        _, status = os.waitpid(pid, 0)
        return os.waitstatus_to_exitcode(status), capfd.readouterr().out

    code, said = there("up")
    assert code == 0
    try:
        assert typed("status", "--json") == 0
        supervisor = json.loads(capfd.readouterr().out)["supervisor"]
        assert supervisor["pid"] == int(said)
        assert not (own_home / "here" / "run" / "cockpit.sock").exists()
    finally:
        assert there("down", "--agents")[0] == 0
    assert typed("status") == 4


def chain_of(agent: str) -> dict[str, Any]:
    return {"agent": agent, "job": f"job-{agent}", "goal": f"Build {agent}.", "sessions": []}


def test_history_of_that_machine_says_which(
    typed: Typed, answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    answering.say("GET /v1/history?limit=100", {"chains": [chain_of("far")], "total": 0})

    assert typed("history", "--json") == 0

    (chain,) = json.loads(capsys.readouterr().out)
    assert (chain["host"], chain["agent"]) == ("gpu1", "far")


def test_history_of_all_hosts_leaves_out_who_does_not_answer(
    typed: Typed, answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    answering.say("GET /v1/status", {"supervisor": {"instance": "a1"}})
    answering.say("GET /v1/history?search=far", [chain_of("far")])

    assert run(["history", "--all-hosts", "--search", "far", "--json"]) == 0

    said = capsys.readouterr()
    (chain,) = json.loads(said.out)
    assert (chain["host"], chain["agent"]) == ("gpu1", "gpu1/far")
    assert "Skipped local: No supervisor is running" in said.err


def test_history_of_all_hosts_asks_one_supervisor_once(
    typed: Typed, answering: Any, connect: Any, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (own_home / "here" / "cockpit.toml").open("a") as file:
        argv = json.dumps(connect(own_home / "ck"))
        file.write(f'[[hosts]]\nname = "again"\nconnect = {argv}\n')
    answering.say("GET /v1/status", {"supervisor": {"instance": "a1"}})
    answering.say("GET /v1/history?search=far", [chain_of("far")])

    assert run(["history", "--all-hosts", "--search", "far", "--json"]) == 0

    said = capsys.readouterr()
    assert [chain["agent"] for chain in json.loads(said.out)] == ["gpu1/far"]
    assert "Skipped again: same supervisor as gpu1" in said.err


def test_history_of_all_hosts_is_of_no_one_host(
    typed: Typed, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed("history", "--all-hosts") == 2
    assert "--all-hosts cannot be used with a name or with --host" in capsys.readouterr().err


@pytest.mark.parametrize(
    "status",
    [[], "x", {"agents": 3}, {"agents": [1]}, {"agents": [{"name": "far"}]},
     {"agents": [], "supervisor": 3}, {"agents": [row("far") | {"name": "../far"}]},
     {"agents": [row("far") | {"state": "\x1b[2J"}]},
     {"agents": [], "supervisor": {"spent_today_usd": "x", "budget_today_usd": [1]}}],
)  # fmt: skip
def test_a_status_that_is_not_valid_is_refused(
    typed: Typed, answering: Any, capsys: pytest.CaptureFixture[str], status: object
) -> None:
    answering.say("GET /v1/status", json.dumps(status).encode())
    line = json.dumps({"type": "snapshot", "status": status}).encode() + b"\n"
    answering.say("GET /v1/watch?beat=10&day=1", line)

    for words in (["status"], ["status", "--watch"], ["status", "far"], ["status", "--json"]):
        assert typed(*words) == 1, words
        said = capsys.readouterr()
        assert "not valid" in said.err or "refused" in said.err.lower(), said.err
        assert "\x1b" not in said.out + said.err


def test_what_a_terminal_obeys_is_escaped_in_json(
    typed: Typed, answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    held = row("far") | {"directory": "/w\x9b2J\x07"}
    answering.say("GET /v1/status", {"agents": [held]})

    assert typed("status", "--json") == 0

    out = capsys.readouterr().out
    assert not any(
        ord(character) in {*range(32), *range(127, 160)} for character in out if character != "\n"
    )
    assert json.loads(out)["agents"][0]["directory"] == held["directory"]
