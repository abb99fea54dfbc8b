"""The plugin that ships with cockpit: what is in it, and that the real CLI finds nothing wrong."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cockpit import __version__
from cockpit.adapters.agents.claude.plugin import SOURCE, TOOLS_RULE, install_plugin, install_tools
from cockpit.adapters.agents.claude.program import bundled_path
from cockpit.adapters.agents.own_command import tool_server


def test_it_is_installed_with_a_cockpit_of_this_very_installation(own_home: Path) -> None:
    folder = install_plugin(own_home / "a state")
    done = subprocess.run(
        [folder / "bin" / "cockpit", "--version"], capture_output=True, text=True, check=True
    )
    assert __version__ in done.stdout
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.rglob("*") if path.is_file()}
    assert modes == {
        "plugin.json": 0o600,
        "SKILL.md": 0o600,
        "cockpit": 0o700,
        "cockpit-handoff": 0o700,
    }


def test_installing_again_mends_what_differs_and_writes_nothing_else(tmp_path: Path) -> None:
    folder = install_plugin(tmp_path)
    (folder / "bin" / "cockpit").chmod(0o600)
    (folder / "skills" / "handoff" / "SKILL.md").write_text("nothing")
    untouched = folder / "skills" / "continue-handoff" / "SKILL.md"
    before = untouched.stat().st_ino
    install_plugin(tmp_path)
    assert os.access(folder / "bin" / "cockpit", os.X_OK)
    assert "cockpit-handoff" in (folder / "skills" / "handoff" / "SKILL.md").read_text()
    assert untouched.stat().st_ino == before


def test_the_tools_are_a_plugin_with_the_server_of_this_installation(tmp_path: Path) -> None:
    folder = install_tools(tmp_path / "a state")
    about = json.loads((folder / ".claude-plugin" / "plugin.json").read_text())
    (server,) = json.loads((folder / ".mcp.json").read_text())["mcpServers"].items()
    assert f"mcp__plugin_{about['name']}_{server[0]}" == TOOLS_RULE
    assert [server[1]["command"], *server[1]["args"]] == tool_server()
    before = (folder / ".mcp.json").stat().st_ino
    assert install_tools(tmp_path / "a state") == folder
    assert (folder / ".mcp.json").stat().st_ino == before


def test_a_refusal_does_not_break_the_command(own_home: Path) -> None:
    """No supervisor runs here: the skill's shell says so, and ends well."""
    folder = install_plugin(own_home / "state")
    done = subprocess.run(
        [folder / "bin" / "cockpit-handoff"],
        env={**os.environ, "COCKPIT_AGENT": "api"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "supervisor" in done.stdout


def test_the_model_starts_none_of_it_by_itself_and_it_has_no_hooks() -> None:
    skills = sorted(SOURCE.glob("skills/*/SKILL.md"))
    assert [path.parent.name for path in skills] == ["continue-handoff", "handoff"]
    for path in skills:
        head = path.read_text().split("---")[1].splitlines()
        assert "disable-model-invocation: true" in head
        assert f"name: {path.parent.name}" in head
    assert not (SOURCE / "hooks").exists()
    assert json.loads((SOURCE / ".claude-plugin" / "plugin.json").read_text())["name"] == "cockpit"


@pytest.mark.claude
@pytest.mark.skipif(bundled_path() is None, reason="the SDK of this platform brings no CLI")
@pytest.mark.parametrize("install", [install_plugin, install_tools])
def test_the_real_cli_finds_nothing_wrong_with_it(
    own_home: Path, install: Callable[[Path], Path]
) -> None:
    folder = install(own_home / "state")
    done = subprocess.run(
        [str(bundled_path()), "plugin", "validate", "--strict", str(folder)],
        env={**os.environ, "CLAUDE_CONFIG_DIR": str(own_home / "claude")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
