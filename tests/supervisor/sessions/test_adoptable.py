"""The command that reopens a session that cockpit did not start."""

from __future__ import annotations

from pathlib import Path

import pytest

from cockpit.core.ids import SessionId
from cockpit.ports.live_sessions import LiveSession
from cockpit.ports.runtimes import Activity
from cockpit.supervisor.sessions.adoptable import start_command


@pytest.mark.parametrize(
    ("runtime", "option"),
    [("claude", ""), ("codex", "--runtime codex "), ("opencode", "--runtime opencode ")],
)
def test_the_command_names_the_cli_of_the_session(runtime: str, option: str) -> None:
    session = LiveSession(SessionId("0b6e6c1e"), runtime, 7, 1, Path("/w/a b"), Activity.IDLE)
    assert start_command(session) == (
        f"cockpit start a-b --directory '/w/a b' {option}--resume 0b6e6c1e"
    )
