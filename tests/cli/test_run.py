"""`cockpit run FILE` with the real supervisor and plain commands as agents."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cockpit.demo.standin.program import install

pytestmark = pytest.mark.tmux


def cockpit(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "cockpit", *words], capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip


@pytest.fixture
def place(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the stand-in for Claude Code on PATH; nothing is left running."""
    monkeypatch.chdir(own_home)
    folder = own_home / "bin"
    folder.mkdir(exist_ok=True)
    install(folder)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    yield own_home
    cockpit("down", "--agents")


def table(name: str, place: Path, **standin: object) -> str:
    env = ", ".join(f'STANDIN_{key.upper()} = "{value}"' for key, value in standin.items())
    return (
        f"[[agents]]\nname = '{name}'\nmode = 'observe'\ndirectory = {json.dumps(str(place))}\n"
        f"prompt = 'Count the steps.'\nenv = {{ {env} }}\n"
    )


def test_it_returns_when_all_are_done(place: Path) -> None:
    file = place / "nightly.toml"
    file.write_text(
        table("one", place, pace=0.02, steps=2) + table("two", place, pace=0.02, steps=3)
    )
    ran = cockpit("run", str(file), "--timeout", "60s")
    assert ran.returncode == 0, ran.stderr
    assert sorted(ran.stdout.splitlines()) == ["one done", "two done"]
    again = cockpit("run", str(file), "--timeout", "60s")
    assert again.returncode == 0, again.stderr
    assert "one is already running" in again.stderr


@pytest.mark.long
def test_plain_commands_are_done_unless_they_fail(place: Path) -> None:
    def command(name: str, script: str) -> str:
        return (
            f"[[agents]]\nname = '{name}'\nruntime = 'command'\n"
            f"command = ['sh', '-c', {json.dumps(script)}]\ndirectory = {json.dumps(str(place))}\n"
        )

    file = place / "build.toml"
    file.write_text(command("one", "sleep 1"))
    ran = cockpit("run", str(file), "--timeout", "60s")
    assert (ran.returncode, ran.stdout) == (0, "one done\n"), ran.stderr
    file.write_text(command("two", "sleep 1; exit 3"))
    ran = cockpit("run", str(file), "--timeout", "60s")
    assert (ran.returncode, "two exited: ended with exit code 3" in ran.stdout) == (8, True)


@pytest.mark.long
def test_a_file_without_agents_is_refused(place: Path) -> None:
    file = place / "empty.toml"
    file.write_text("[defaults]\nmode = 'observe'\n")
    ran = cockpit("run", str(file))
    assert ran.returncode == 2
    assert "has no agents" in ran.stderr


@pytest.mark.long
def test_a_running_supervisor_keeps_its_configuration(place: Path) -> None:
    project = place / "cockpit.toml"
    project.write_text("[limits]\ncost_per_day = 7\n" + table("api", place))
    assert cockpit("up", "--config", str(project)).returncode == 0
    file = place / "nightly.toml"
    defaults = "[defaults]\nmodel = 'claude-opus-4-6'\n[limits]\ncost_per_day = 3\n"
    file.write_text(defaults + table("one", place, pace=0.02, steps=2))
    ran = cockpit("run", str(file), "--timeout", "60s")
    assert (ran.returncode, ran.stdout) == (0, "one done\n"), ran.stderr
    status = json.loads(cockpit("status", "--json").stdout)
    supervisor = status["supervisor"]
    assert (supervisor["config"], supervisor["budget_today_usd"]) == (str(project), 7)
    assert {row["name"]: row["model"] for row in status["agents"]} == {
        "api": None,
        "one": "claude-opus-4-6",
    }


@pytest.mark.long
def test_a_time_limit_leaves_the_agents_running(place: Path) -> None:
    file = place / "long.toml"
    file.write_text(table("slow", place, pace=0.5, steps=1000))
    ran = cockpit("run", str(file), "--timeout", "1s")
    assert (ran.returncode, ran.stdout) == (7, "")
    assert "Timed out waiting for done: slow" in ran.stderr
    (row,) = json.loads(cockpit("status", "--json").stdout)["agents"]
    assert row["state"] == "working"
