"""The command that reopens a session whose process cockpit did not start."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.core.errors import NotNow
from cockpit.core.ids import SessionId
from cockpit.ports.live_sessions import LiveSession
from cockpit.ports.runtimes import Activity
from cockpit.supervisor.sessions.adoptable import check_adoptable, start_command
from tests.supervisor.left_alone import flown, parts_of

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit


@pytest.mark.parametrize(
    ("runtime", "option"),
    [("claude", ""), ("codex", "--runtime codex "), ("opencode", "--runtime opencode ")],
)
def test_the_command_names_the_cli_of_the_session(runtime: str, option: str) -> None:
    session = LiveSession(SessionId("0b6e6c1e"), runtime, 7, 1, Path("/w/a b"), Activity.IDLE)
    assert start_command(session) == (
        f"cockpit start a-b --directory '/w/a b' {option}--resume 0b6e6c1e"
    )


@pytest.mark.tmux
async def test_an_agent_that_runs_another_session_is_stopped_first(cockpit: Cockpit) -> None:
    await flown(cockpit)
    async with parts_of(cockpit) as parts:
        assert await parts.find()
        assert parts.agent.session is not None
        earlier = replace(parts.agent.session, id=SessionId("0b6e6c1e"), run="earlier")
        parts.dependencies.store.save_session(earlier)
        directory = parts.agent.directory
        opened = LiveSession(earlier.id, "claude", 7, 1, directory, Activity.IDLE)

        async def hint() -> str:
            with pytest.raises(NotNow, match="The session belongs to api") as refused:
                await check_adoptable(parts.dependencies, parts.fleet, opened)
            return refused.value.hint

        assert await hint() == (
            "End the session's process, then stop api: cockpit stop api. "
            "Then: cockpit start api --resume 0b6e6c1e"
        )
        parts.agent.process = None
        assert (
            await hint() == "End the session's process, then: cockpit start api --resume 0b6e6c1e"
        )
