"""The settings given to one agent, and the user's status line inside them."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cockpit.adapters.agents.claude.settings import (
    HOOK_EVENTS,
    config_folder,
    session_settings,
    user_status_line,
    write_settings,
)
from cockpit.adapters.agents.reporter import install_reporter
from cockpit.adapters.files.main_checkout import main_checkout
from cockpit.core.ids import AgentName

API = AgentName("api")


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path, dict[str, str]]:
    """State, the agent's directory, and an environment with a config folder of its own."""
    for name in ("st ate", "work/.claude", "conf"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path / "st ate", tmp_path / "work", {"CLAUDE_CONFIG_DIR": str(tmp_path / "conf")}


def give(path: Path, line: Any) -> None:
    path.write_text(json.dumps({"statusLine": line}))


def test_every_hook_calls_the_reporter_without_a_shell(tmp_path: Path) -> None:
    settings = session_settings(tmp_path / "a b", API, None)
    assert tuple(settings["hooks"]) == (*HOOK_EVENTS, "PreToolUse")
    hooks = [(event, each) for event, groups in settings["hooks"].items() for each in groups]
    for event, group in hooks:
        (hook,) = group["hooks"]
        assert hook["command"] == str(tmp_path / "a b" / "reporter.sh")
        assert hook["args"] == [str(tmp_path / "a b"), "api", event]
        assert hook["timeout"] == (15 if event == "PreCompact" else 5)


def test_before_a_tool_only_the_writing_of_a_draft_is_asked_about(tmp_path: Path) -> None:
    groups = session_settings(tmp_path, API, None)["hooks"]["PreToolUse"]
    asked = [(group["matcher"], group["hooks"][0]["if"]) for group in groups]
    assert asked == [
        ("Write", "Write(//**/draft-*.md)"),
        ("Edit", "Edit(//**/draft-*.md)"),
    ]
    assert "permissions" not in session_settings(tmp_path, API, None)


def test_the_status_line_is_one_quoted_command(tmp_path: Path) -> None:
    line = session_settings(tmp_path / "a b", API, None)["statusLine"]
    state = str(tmp_path / "a b")
    assert shlex.split(line["command"]) == [f"{state}/reporter.sh", state, "api", "StatusLine"]


def test_the_pilots_line_is_wrapped_with_its_looks(tmp_path: Path) -> None:
    pilots = {"type": "command", "command": "~/line.sh 'x y' | cut -c1-9", "padding": 2}
    line = session_settings(tmp_path, API, pilots)["statusLine"]
    assert shlex.split(line["command"])[4:] == ["~/line.sh 'x y' | cut -c1-9"]
    assert line["padding"] == 2


def test_local_settings_win_over_project_over_user(
    places: tuple[Path, Path, dict[str, str]],
) -> None:
    state, work, environment = places
    assert user_status_line(work, environment, state) is None
    for name, path in (
        ("user", Path(environment["CLAUDE_CONFIG_DIR"]) / "settings.json"),
        ("project", work / ".claude" / "settings.json"),
        ("local", work / ".claude" / "settings.local.json"),
    ):
        give(path, {"type": "command", "command": name})
        found = user_status_line(work, environment, state)
        assert found is not None
        assert found["command"] == name


def test_local_settings_are_those_of_the_main_checkout(tmp_path: Path) -> None:
    """So an agent in a worktree shows the line that the user set for the repository."""
    main, tree, environment = tmp_path / "main", tmp_path / "trees" / "api", {"HOME": "/nowhere"}
    for words in (
        ("init", "-q", str(main)),
        ("-C", str(main), "commit", "-q", "--allow-empty", "-m", "first"),
        ("-C", str(main), "worktree", "add", "-q", str(tree)),
    ):
        subprocess.run(["git", *words], check=True, capture_output=True)
    assert main_checkout(tree) == main_checkout(main) == main
    for directory in (main, main / "src", tree):
        (directory / ".claude").mkdir(parents=True)
    give(tree / ".claude" / "settings.local.json", {"type": "command", "command": "tree"})
    assert found(tree, environment) == "tree"
    give(main / ".claude" / "settings.local.json", {"type": "command", "command": "main"})
    assert found(tree, environment) == found(main / "src", environment) == "main"


def test_project_settings_are_those_of_the_directory_only(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / ".claude").mkdir()
    give(tmp_path / ".claude" / "settings.json", {"type": "command", "command": "root"})
    assert found(tmp_path, {"HOME": "/nowhere"}) == "root"
    assert found(tmp_path / "src", {"HOME": "/nowhere"}) is None


def found(directory: Path, environment: dict[str, str]) -> str | None:
    line = user_status_line(directory, environment, Path("/state"))
    return line["command"] if line else None


def test_our_own_line_is_never_taken_for_the_pilots(
    places: tuple[Path, Path, dict[str, str]],
) -> None:
    state, work, environment = places
    give(work / ".claude" / "settings.json", session_settings(state, API, None)["statusLine"])
    assert user_status_line(work, environment, state) is None


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{", b'{"statusLine": 1}', b'{"statusLine": {"type": "command"}}']
)
def test_settings_that_say_nothing_are_passed_over(
    places: tuple[Path, Path, dict[str, str]], content: bytes
) -> None:
    state, work, environment = places
    (work / ".claude" / "settings.json").write_bytes(content)
    assert user_status_line(work, environment, state) is None


def test_the_config_folder_is_the_clis_own() -> None:
    assert config_folder({"CLAUDE_CONFIG_DIR": "/c", "HOME": "/h"}) == Path("/c")
    assert config_folder({"HOME": "/h"}) == Path("/h/.claude")


def test_the_reporter_is_installed_once_and_repaired(tmp_path: Path) -> None:
    target = install_reporter(tmp_path / "state")
    assert target.stat().st_mode & 0o777 == 0o700
    first = target.stat().st_ino
    assert install_reporter(tmp_path / "state").stat().st_ino == first
    target.write_text("something else")
    install_reporter(tmp_path / "state")
    assert target.read_text().startswith("#!/bin/sh")
    assert [path.name for path in target.parent.iterdir()] == ["reporter.sh"]


def test_settings_are_for_the_pilots_eyes_only(tmp_path: Path) -> None:
    path = tmp_path / "settings" / "api.json"
    write_settings(path, {"hooks": {}})
    write_settings(path, {"hooks": {"a": 1}})
    assert path.stat().st_mode & 0o777 == 0o600
    assert json.loads(path.read_text()) == {"hooks": {"a": 1}}
