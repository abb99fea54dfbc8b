"""The permission mode of a job that goes through several CLIs."""

from __future__ import annotations

from pathlib import Path

import pytest

from cockpit.adapters.agents import runtime
from cockpit.config.schema import AgentSettings
from cockpit.core.ids import AgentName, JobId, SessionId
from cockpit.ports.records import AgentRecord, SessionRecord
from cockpit.ports.runtimes import Runtime
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.sessions.permission_modes import is_same, mode_in, narrowed

API = AgentName("api")


class Job:
    """An agent with a configured CLI, and the CLIs that it may go on in."""

    def __init__(self, state: Path, usual: str) -> None:
        self.state = state
        record = AgentRecord(API, {}, None, True, "/w")
        self.agent = Agent(
            record,
            AgentSettings.model_validate({"name": API, "runtime": usual}),
            self.runtimes(usual),
        )

    def runtimes(self, name: str) -> Runtime:
        return runtime(name, self.state)

    def started(self, mode: str, cli: str) -> str:
        return mode_in(self.runtimes, self.agent, mode, self.runtimes(cli))

    def asks(self, mode: str, cli: str) -> bool:
        return not is_same(self.runtimes, self.agent, mode, self.runtimes(cli))

    def after(self, mode: str, cli: str, observed: str | None) -> str:
        old = SessionRecord(
            SessionId("s"), API, JobId("j"), 1, None, "r", 0.0, permission_mode=mode, runtime=cli
        )
        return narrowed(self.runtimes, self.agent, mode, old, observed)


@pytest.mark.parametrize(
    ("usual", "mode", "cli", "started", "asks"),
    [
        ("claude", "acceptEdits", "claude", "acceptEdits", False),
        ("claude", "", "claude", "", False),
        ("claude", "", "gemini", "default", False),
        ("claude", "", "codex", "plan", True),
        ("claude", "acceptEdits", "codex", "plan", True),
        ("claude", "acceptEdits", "gemini", "acceptEdits", False),
        ("claude", "a mode of tomorrow", "gemini", "default", True),
        # The same names mean more in Codex.
        ("codex", "acceptEdits", "claude", "acceptEdits", True),
        ("codex", "dontAsk", "claude", "dontAsk", True),
        ("codex", "", "claude", "default", False),
        ("codex", "bypassPermissions", "claude", "bypassPermissions", False),
    ],
)
def test_a_mode_in_another_cli(
    usual: str, mode: str, cli: str, started: str, asks: bool, tmp_path: Path
) -> None:
    job = Job(tmp_path, usual)
    assert (job.started(mode, cli), job.asks(mode, cli)) == (started, asks)


@pytest.mark.parametrize(
    ("usual", "mode", "cli", "observed", "then"),
    [
        ("claude", "acceptEdits", "claude", "plan", "plan"),
        ("claude", "dontAsk", "claude", "acceptEdits", "dontAsk"),
        # What cockpit chose there is not the user's choice.
        ("claude", "acceptEdits", "codex", "plan", "acceptEdits"),
        ("claude", "acceptEdits", "codex", None, "acceptEdits"),
        ("claude", "default", "codex", "acceptEdits", "default"),
        ("claude", "bypassPermissions", "codex", "acceptEdits", "acceptEdits"),
        ("claude", "bypassPermissions", "codex", "plan", "plan"),
        ("claude", "", "codex", "plan", ""),
        ("claude", "", "codex", "bypassPermissions", ""),
        ("codex", "acceptEdits", "claude", "default", "plan"),
        ("codex", "acceptEdits", "claude", "acceptEdits", "acceptEdits"),
    ],
)
def test_only_a_narrower_mode_of_another_cli_is_kept(
    usual: str, mode: str, cli: str, observed: str | None, then: str, tmp_path: Path
) -> None:
    assert Job(tmp_path, usual).after(mode, cli, observed) == then
