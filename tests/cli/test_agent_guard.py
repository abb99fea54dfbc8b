"""Which commands an agent is refused is told by the marks of processes, not by its variables."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

COCKPIT = f"{shlex.quote(sys.executable)} -P -m cockpit"


@pytest.fixture
def default_home(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation without `COCKPIT_HOME`, its state there already, and a file to trust."""
    monkeypatch.delenv("COCKPIT_HOME")
    (own_home / "state" / "cockpit").mkdir(mode=0o700)
    (own_home / "run" / "cockpit").mkdir(mode=0o700)
    (own_home / "planted.toml").write_text('[defaults]\nmode = "auto"\n')
    (own_home / "planted.toml").chmod(0o600)
    (own_home / "other").mkdir(mode=0o700)
    return own_home


def marks(home: Path, run: str = "abc") -> dict[str, str]:
    return {
        "COCKPIT_RUN": run,
        "COCKPIT_AGENT": "api",
        "COCKPIT_SOCKET": str(home / "run" / "cockpit" / "cockpit.sock"),
        "COCKPIT_STATE": str(home / "state" / "cockpit"),
    }


def inside(
    home: Path, line: str, given: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """What a command line does below a shell that carries an agent's marks."""
    given = marks(home) if given is None else given
    return subprocess.run(
        ["/bin/sh", "-c", f"{line}; exit $?"],
        env={**os.environ, **given},
        cwd=home,
        text=True,
        capture_output=True,
        timeout=60,
    )


UNMARKED = "env -u COCKPIT_RUN -u COCKPIT_AGENT -u COCKPIT_SOCKET -u COCKPIT_STATE"
OTHERWISE = [
    "",
    "XDG_RUNTIME_DIR={home}/other",
    "COCKPIT_SOCKET={home}/other/cockpit.sock",
    "COCKPIT_STATE={home}/other",
    f"{UNMARKED} XDG_RUNTIME_DIR={{home}}/other",
    "XDG_STATE_HOME={home}/other XDG_RUNTIME_DIR={home}/other",
    "env COCKPIT_RUN=hook-00 XDG_RUNTIME_DIR={home}/other",
]


@pytest.mark.parametrize("variables", OTHERWISE)
def test_no_variable_lets_an_agent_trust_a_file(default_home: Path, variables: str) -> None:
    variables = variables.format(home=default_home)
    done = inside(default_home, f"{variables} {COCKPIT} config trust planted.toml")
    assert (done.returncode, "inside agent 'api'" in done.stderr) == (5, True), done.stderr
    assert not list(default_home.rglob("trusted.json"))


@pytest.mark.parametrize(
    "command",
    [
        "init",
        "service install --dry-run",
        "hooks test a after_run",
        "--host gpu1 status",
        "up --foreground",
    ],
)
def test_nor_any_other_of_these_commands(default_home: Path, command: str) -> None:
    done = inside(default_home, f"XDG_RUNTIME_DIR={default_home}/other {COCKPIT} {command}")
    assert done.returncode == 5, done
    assert "Refused: an agent may not" in done.stderr


def test_an_agent_of_an_older_version_is_refused_with_the_reason(default_home: Path) -> None:
    given = {**marks(default_home), "COCKPIT_STATE": ""}
    done = inside(default_home, f"{COCKPIT} config trust planted.toml", given)
    assert done.returncode == 5
    assert "older version" in done.stderr


def test_a_setup_is_refused_too_and_a_hook_is_not(default_home: Path) -> None:
    line = f"{COCKPIT} config trust planted.toml"
    done = inside(default_home, line, marks(default_home, "setup-0a"))
    assert (done.returncode, "worktree setup of agent 'api'" in done.stderr) == (5, True)
    assert inside(default_home, line, marks(default_home, "hook-0a")).returncode == 0


def test_a_cockpit_with_a_home_of_its_own_works_inside_an_agent(default_home: Path) -> None:
    line = f"COCKPIT_HOME={default_home}/other {COCKPIT} config trust planted.toml"
    assert inside(default_home, line).returncode == 0
    assert list(default_home.rglob("trusted.json")) == [
        default_home / "other" / "state" / "trusted.json"
    ]
    # The service is the user's, wherever its supervisor keeps its state.
    line = f"COCKPIT_HOME={default_home}/other {COCKPIT} service install --dry-run"
    assert inside(default_home, line).returncode == 5


@pytest.mark.parametrize("folder", ["state", "run"])
def test_a_home_that_leads_to_the_users_folders_is_not_its_own(
    default_home: Path, folder: str
) -> None:
    (default_home / "other" / folder).symlink_to(default_home / folder / "cockpit")
    line = f"COCKPIT_HOME={default_home}/other {COCKPIT} config trust planted.toml"
    assert inside(default_home, line).returncode == 5
