"""What the tools for agents decide by themselves."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import get_args

import pytest

from cockpit.adapters.agents.own_command import OFFERED
from cockpit.cli.agent_tools import NEXT, TOOLS, OwnTools, in_repository
from cockpit.cli.mcp import supervisor_socket
from cockpit.client.http import HttpClient
from cockpit.wire.history import HistoryHandoff
from cockpit.wire.status import PhaseName


def git(directory: Path, *words: str) -> None:
    subprocess.run(["git", "-C", directory, *words], check=True, capture_output=True)


def test_only_documents_of_the_repository_are_found_wherever_its_worktrees_are(
    tmp_path: Path,
) -> None:
    main, other, plain = (tmp_path / name for name in ("main", "other", "plain"))
    for directory in (main, other):
        directory.mkdir()
        git(directory, "init", "-q")
        git(directory, "-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "--allow-empty",
            "-m", "x")  # fmt: skip
    git(main, "worktree", "add", "-q", str(tmp_path / "elsewhere"))
    plain.mkdir()
    folder = Path(".cockpit") / "handoffs"
    places = {
        "in it": main / folder / "handoff-1.md",
        "in a worktree": tmp_path / "elsewhere" / folder / "handoff-1.md",
        "in a removed worktree": main / ".worktrees" / "gone" / folder / "handoff-1.md",
        "in another": other / folder / "handoff-1.md",
        "in none": plain / folder / "handoff-1.md",
    }
    found = [("2026", name, HistoryHandoff(id=name, document=str(places[name]))) for name in places]
    found.append(("2026", "without one", HistoryHandoff(id="without one")))

    for directory in (main, main / "src", tmp_path / "elsewhere"):
        here = [handoff.id for _, _, handoff in in_repository(directory, found)]
        assert here == ["in it", "in a worktree", "in a removed worktree"]
    assert [one[2].id for one in in_repository(plain, found)] == ["in none"]


def test_each_tool_is_answered_and_each_phase_has_a_next_step(tmp_path: Path) -> None:
    tools = OwnTools(HttpClient(tmp_path / "no.sock"))
    assert set(tools.calls) == {tool.name for tool in TOOLS} == set(OFFERED)
    assert set(NEXT) == set(get_args(PhaseName))


def test_the_socket_is_that_of_the_environment_outside_of_an_agent(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("COCKPIT_RUN", "COCKPIT_SOCKET"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COCKPIT_HOME", str(own_home))
    assert supervisor_socket() == own_home / "run" / "cockpit.sock"
