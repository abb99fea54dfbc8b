"""An agent in memory is only memory: to make one and to ask it anything touches no file."""

from __future__ import annotations

import builtins
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cockpit.adapters.agents import RUNTIMES, runtime
from cockpit.config.schema import AgentSettings
from cockpit.core.handoff.events import Turn
from cockpit.core.ids import AgentName, SessionId
from cockpit.ports.records import AgentRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.session_state import SessionState

CALLS = [(os, name) for name in ("stat", "lstat", "open", "scandir", "listdir", "readlink")]


@contextmanager
def no_files(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def refuse(*what: Any, **more: Any) -> Any:
        raise AssertionError(f"touched {what[0]}")

    with monkeypatch.context() as patched:
        for module, name in CALLS:
            patched.setattr(module, name, refuse)
        patched.setattr(builtins, "open", refuse)
        yield


def properties(of: type) -> list[str]:
    return [name for name, member in vars(of).items() if isinstance(member, property)]


@pytest.mark.parametrize("cli", RUNTIMES)
def test_neither_the_constructor_nor_a_property_touches_a_file(
    cli: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory, worktree = tmp_path / "repository" / "api", tmp_path / "worktree"
    (directory.parent / ".git").mkdir(parents=True)
    settings = AgentSettings.model_validate(
        {"name": "api", "directory": str(directory), "runtime": cli, "command": ["true"]}
    )
    record = AgentRecord(
        *(AgentName("api"), {}, None, True, str(directory), str(worktree)),
        session=SessionId("s"),
        folder=str(worktree / "api"),
    )
    known = runtime(cli, tmp_path)
    with no_files(monkeypatch):
        agent = Agent(record, settings, known, {"HOME": str(tmp_path)})
    agent.begin_session(None)
    agent.session_state.gauge.override = 200_000
    agent.session_state.activity.turn = Turn.UNKNOWN
    with no_files(monkeypatch):
        for name in properties(Agent):
            getattr(agent, name)
        for name in properties(SessionState):
            getattr(agent.session_state, name)
        assert agent.directory == worktree / "api"
        assert (agent.marks is not None) is bool(known.capabilities.readings)


def test_a_touched_file_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with no_files(monkeypatch), pytest.raises(AssertionError, match="touched"):
        (tmp_path / "file").is_file()
