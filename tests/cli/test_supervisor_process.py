"""`cockpit up` and `down` with the real supervisor, as processes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.tmux


def cockpit(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; a pipe that somebody kept open would hold this up."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "cockpit", *words], capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip


@pytest.fixture(autouse=True)
def _nothing_left(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(own_home)
    yield
    monkeypatch.setenv("COCKPIT_HOME", str(own_home / "ck"))
    if (own_home / "ck" / "run" / "tmux.sock").exists():
        cockpit("down", "--agents")


def ended(pid: int) -> bool:
    """Gone, or a zombie that whoever adopted it has not collected yet."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return True
    return stat.rpartition(")")[2].split()[0] == "Z"


def test_up_twice_is_up_once_and_down_returns_when_it_is_gone() -> None:
    first, second = cockpit("up"), cockpit("up")

    assert (first.returncode, second.returncode) == (0, 0)
    assert first.stdout == second.stdout
    pid = int(first.stdout)
    assert json.loads(cockpit("status", "--json").stdout)["supervisor"]["pid"] == pid

    assert cockpit("down").returncode == 0
    assert ended(pid)
    assert cockpit("status").returncode == 4
    assert cockpit("down").returncode == 0


def test_two_at_once_become_one() -> None:
    command = [sys.executable, "-m", "cockpit", "up"]
    racing = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]

    said = {one.communicate(timeout=60)[0] for one in racing}

    assert [one.returncode for one in racing] == [0, 0, 0]
    assert len(said) == 1


@pytest.mark.long
def test_a_second_one_in_the_foreground_is_refused_with_the_pid_of_the_first() -> None:
    pid = cockpit("up").stdout.strip()

    second = cockpit("up", "--foreground")

    assert second.returncode == 5
    assert pid in second.stderr


@pytest.mark.long
def test_a_bad_file_is_told_where_it_was_asked(own_home: Path) -> None:
    (own_home / "bad.toml").write_text("[defaults]\nmood = 1\n")

    refused = cockpit("up", "--config", "bad.toml")

    assert refused.returncode == 2
    assert f"{own_home / 'bad.toml'}:2" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert cockpit("status").returncode == 4


def test_one_that_breaks_at_once_is_told_with_what_broke_it(own_home: Path) -> None:
    (own_home / "ck" / "state" / "cockpit.db").mkdir(parents=True)

    refused = cockpit("up")

    assert refused.returncode == 1
    first = refused.stderr.splitlines()[0]
    assert first == f"cockpit: Cannot open {own_home}/ck/state/cockpit.db"
    assert "Is a directory" in refused.stderr


@pytest.mark.long
def test_a_folder_of_the_project_is_not_taken_for_one_of_our_modules(own_home: Path) -> None:
    (own_home / "click.py").write_text("raise SystemExit('a stranger')\n")
    (own_home / "uvicorn.py").write_text("raise SystemExit('a stranger')\n")

    done = cockpit("up")

    assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_a_running_supervisor_takes_up_the_file_that_is_named(own_home: Path) -> None:
    cockpit("up")
    (own_home / "mine.toml").write_text(
        '[[agents]]\nname = "api"\nruntime = "command"\ncommand = ["sleep", "60"]\n'
    )

    assert cockpit("up", "--config", "mine.toml").returncode == 0

    agents = json.loads(cockpit("status", "--json").stdout)["agents"]
    assert [(one["name"], one["state"]) for one in agents] == [("api", "stopped")]


@pytest.mark.long
def test_the_first_up_takes_up_the_file_of_the_repository(own_home: Path) -> None:
    (own_home / "cockpit.toml").write_text(
        '[[agents]]\nname = "api"\n[[agents]]\nname = "job"\nruntime = "command"\n'
        'command = ["sleep", "60"]\nenv = { A = "b" }\n'
    )

    done = cockpit("up")

    assert done.stdout.strip().isdecimal()
    trust = f"cockpit config trust {own_home / 'cockpit.toml'}"
    pid = done.stdout.strip()
    assert done.stderr == (
        f"Supervisor running (pid {pid}); 2 agents configured; "
        f"2 settings ignored until you trust the file: {trust}\n"
    )
    agents = json.loads(cockpit("status", "--json").stdout)["agents"]
    assert [(one["name"], one["state"]) for one in agents] == [("api", "stopped")]
    assert cockpit("up").stderr == done.stderr


@pytest.mark.long
def test_an_agent_that_cannot_start_keeps_no_other_from_it(own_home: Path) -> None:
    (own_home / "cockpit.toml").write_text(
        '[[agents]]\nname = "a"\ndirectory = "gone"\n[[agents]]\nname = "b"\n'
    )

    assert cockpit("up").returncode == 0
    refused = cockpit("start", "a")

    assert refused.returncode == 2
    assert "gone is not a directory" in refused.stderr
    agents = json.loads(cockpit("status", "--json").stdout)["agents"]
    assert [(one["name"], one["state"]) for one in agents] == [("a", "stopped"), ("b", "stopped")]


@pytest.mark.long
def test_up_with_nothing_configured_says_where_to_begin() -> None:
    assert "0 agents configured; create a config file with: cockpit init" in cockpit("up").stderr


@pytest.mark.long
def test_start_needs_nothing_to_run_already(own_home: Path) -> None:
    (own_home / "mine.toml").write_text(
        '[defaults]\nruntime = "command"\ncommand = ["sleep", "60"]\n'
    )

    done = cockpit("start", "fresh", "--config", "mine.toml")

    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    told = done.stderr.splitlines()
    assert told[0].startswith("Started the supervisor (pid ")
    assert told[1].startswith(f"Started fresh in {own_home}")
    agents = json.loads(cockpit("status", "--json").stdout)["agents"]
    assert [(one["name"], one["directory"]) for one in agents] == [("fresh", str(own_home))]
    again = cockpit("start", "fresh", "--config", "mine.toml")
    assert again.returncode == 5
    assert "supervisor" not in again.stderr


@pytest.mark.long
def test_continue_needs_nothing_to_run_already_but_a_document(own_home: Path) -> None:
    typo = cockpit("continue", "notes.md", "--name", "fresh")
    assert (typo.returncode, "No such file" in typo.stderr) == (3, True)
    assert cockpit("status").returncode == 4

    (own_home / "notes.md").write_text("# Notes\n")
    told = cockpit("continue", "notes.md", "--name", "fresh")
    assert told.stderr.startswith("Started the supervisor (pid ")
    assert "is not a handoff document" in told.stderr


@pytest.mark.long
def test_a_socket_path_that_is_too_long_is_a_mistake_with_a_name(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COCKPIT_HOME", str(own_home / ("x" * 120)))

    for words in (["up"], ["status"], ["down"]):
        refused = cockpit(*words)
        assert refused.returncode == 2
        assert "COCKPIT_HOME" in refused.stderr


@pytest.mark.long
def test_agents_are_ended_where_no_supervisor_runs_any_more(own_home: Path) -> None:
    (own_home / "mine.toml").write_text(
        '[defaults]\nruntime = "command"\ncommand = ["sleep", "600"]\n'
    )
    cockpit("start", "api", "--config", "mine.toml")
    (row,) = json.loads(cockpit("status", "--json").stdout)["agents"]
    cockpit("down")

    done = cockpit("down", "--agents")

    assert done.returncode == 0, done.stderr
    assert "Stopped the agents" in done.stderr
    assert ended(row["pid"])
    assert not (own_home / "ck" / "run" / "tmux.sock").exists()
    assert cockpit("status").returncode == 4


@pytest.mark.long
def test_the_settings_of_continuation_are_logged(own_home: Path) -> None:
    (own_home / "mine.toml").write_text(
        '[[agents]]\nname = "api"\nmode = "auto"\n[agents.context]\nact = "66%"\n'
    )
    cockpit("up", "--config", "mine.toml")
    log = (own_home / "ck" / "state" / "logs" / "supervisor.log").read_text()
    (line,) = [line for line in log.splitlines() if "settings of api" in line]
    assert "mode=auto" in line
    assert "/66%/" in line
    assert "max_per_job=3" in line


@pytest.mark.long
def test_up_names_who_was_cut_off(own_home: Path) -> None:
    (own_home / "mine.toml").write_text(
        '[defaults]\nruntime = "command"\ncommand = ["sleep", "60"]\n'
    )
    cockpit("start", "api", "--config", "mine.toml")
    (row,) = json.loads(cockpit("status", "--json").stdout)["agents"]
    cockpit("down")
    tmux = ["tmux", "-S", str(own_home / "ck" / "run" / "tmux.sock"), "kill-server"]
    subprocess.run(tmux, check=True)
    end = time.monotonic() + 60
    while not ended(row["pid"]):
        assert time.monotonic() < end, "the agent outlives its tmux server"
        time.sleep(0.02)

    told = cockpit("up").stderr

    assert "Interrupted by a reboot or a tmux exit: api" in told
    assert "cockpit start --all --resume" in told
    listed = cockpit("start", "--all", "--resume", "--dry-run")
    assert listed.stdout.startswith("api  cannot be reopened: api has no session to reopen")
    assert "Start it again: cockpit start api" in listed.stdout


OLDER = """
import sys, cockpit
cockpit.__version__ = "0.0.9"
sys.argv = ["cockpit", "up", "--foreground", *sys.argv[1:]]
from cockpit.__main__ import main
main()
"""


def agent(own_home: Path) -> Path:
    file = own_home / "team.toml"
    file.write_text('[[agents]]\nname = "job"\nruntime = "command"\ncommand = ["sleep", "600"]\n')
    return file


def rows() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(cockpit("status", "--json").stdout)["agents"]
    return found


def test_a_restart_exchanges_an_older_supervisor_and_touches_no_agent(own_home: Path) -> None:
    command = [sys.executable, "-P", "-c", OLDER, "--config", str(agent(own_home))]
    older = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 60
        while cockpit("status").returncode == 4:
            assert time.monotonic() < end, "it does not answer"
        assert cockpit("start", "job").returncode == 0
        (before,) = rows()
        assert before["pid"]

        told = cockpit("up")
        assert int(told.stdout) == older.pid
        assert "The supervisor is version 0.0.9" in told.stderr
        assert "Restart it: cockpit restart" in told.stderr

        done = cockpit("restart")
        assert done.returncode == 0, done.stderr
        assert done.stderr.startswith("Restarted the supervisor (version 0.0.9 -> ")
        assert older.wait(60) == 0
        (after,) = rows()
        assert (after["pid"], after["state"]) == (before["pid"], before["state"])
        status = json.loads(cockpit("status", "--json").stdout)["supervisor"]
        assert status["pid"] == int(done.stdout) != older.pid
        assert (status["config"], status["config_named"]) == (str(own_home / "team.toml"), True)
        assert "Restart" not in cockpit("up").stderr
    finally:
        older.kill()
        older.wait()


@pytest.mark.long
def test_a_restart_ends_nothing_while_the_configuration_does_not_read(own_home: Path) -> None:
    file = agent(own_home)
    pid = cockpit("up", "--config", str(file)).stdout.strip()
    file.write_text("[[agents]\n")

    refused = cockpit("restart")

    assert refused.returncode == 2
    assert str(file) in refused.stderr
    assert json.loads(cockpit("status", "--json").stdout)["supervisor"]["pid"] == int(pid)


@pytest.mark.long
def test_a_restart_hands_over_the_trust_that_was_given_to_those_bytes(own_home: Path) -> None:
    file = agent(own_home)
    cockpit("up", "--config", str(file))
    more = f'start = "auto"\ncommand = ["touch", "{own_home}/ran"]\n'
    file.write_text(file.read_text() + f'[[agents]]\nname = "late"\nruntime = "command"\n{more}')

    for _ in range(2):
        done = cockpit("restart")
        assert done.returncode == 0, done.stderr
        assert "ignored until you trust" in done.stderr
        assert f"cockpit config trust {file}" in done.stderr
        held = json.loads(cockpit("status", "--json").stdout)["held"]
        assert {one["agent"] for one in held} >= {"late"}

    assert not (own_home / "ran").exists()
    assert cockpit("restart", "--config", str(file)).returncode == 0
    end = time.monotonic() + 60
    while not (own_home / "ran").exists():
        assert time.monotonic() < end, "the file that was named is not trusted"
        time.sleep(0.05)


@pytest.mark.long
def test_a_restart_without_a_supervisor_starts_one() -> None:
    done = cockpit("restart")

    assert done.returncode == 0
    assert done.stderr.startswith("No supervisor was running; started one")
    assert cockpit("up").stdout == done.stdout
