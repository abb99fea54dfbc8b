"""Copies of a session that write its handoff document, in every CLI: what they are and get."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from cockpit.adapters.agents import runtime
from cockpit.adapters.files import bounded_copy
from cockpit.core.errors import Failed
from cockpit.core.ids import AgentName, SessionId
from cockpit.ports.runtimes import Aside, Program, SessionOrder

CLIS = ("claude", "codex", "gemini", "opencode", "copilot")
IDENT = SessionId("39a57f58-31ec-487f-a96f-1d42382d2ffb")
STAND_IN = """#!/bin/sh
env > '{report}'
pwd > '{report}.pwd'
cat > /dev/null
exit 3
"""


class Copied:
    """A session that has a transcript in every CLI, and a program that stands in for each."""

    def __init__(self, folder: Path) -> None:
        self.home, self.work, self.report = folder / "home", folder / "work", folder / "report"
        self.work.mkdir()
        self.program = folder / "program"
        self.program.write_text(STAND_IN.format(report=self.report))
        self.program.chmod(0o700)
        self.copilot = self.home / "copilot" / "session-state" / IDENT
        self.copilot.mkdir(parents=True)
        self.gemini = self.home / ".gemini" / "tmp" / "w" / "chats"
        self.gemini.mkdir(parents=True)
        self.transcripts = (
            self.copilot / "events.jsonl",
            self.gemini / f"session-2026-11-23T13-47-{IDENT[:8]}.jsonl",
        )
        for path in self.transcripts:
            path.write_text(json.dumps({"sessionId": IDENT}) + "\n")

    async def ask(
        self, name: str, state: Path, deadline: float = 30, more: Mapping[str, str] | None = None
    ) -> Aside:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "COPILOT_HOME": str(self.home / "copilot"),
            "GEMINI_CLI_HOME": str(self.home),
            "COCKPIT_AGENT": "api",
            "COCKPIT_STATE": str(state),
            "COCKPIT_SOCKET": "/run/cockpit.sock",
            **(more or {}),
        }
        ident = SessionId("ses_0123456789abcdef") if name == "opencode" else IDENT
        order = SessionOrder(AgentName("api"), ident, "api-run", self.work, environment=environment)
        return await runtime(name, state).answer_aside(
            order, Program(self.program, "1"), "Write it.", deadline
        )

    def variables(self) -> dict[str, str]:
        lines = self.report.read_text().splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line)

    def place(self) -> Path:
        """The directory that it ran in."""
        return Path(Path(f"{self.report}.pwd").read_text().strip())

    def left(self) -> list[str]:
        """Copies of the session beside it."""
        return [path.name for path in self.copilot.parent.iterdir() if path != self.copilot]


@pytest.fixture
def session(tmp_path: Path) -> Copied:
    return Copied(tmp_path)


@pytest.mark.parametrize("name", ["gemini", "copilot"])
async def test_a_session_that_is_too_large_is_not_copied(
    name: str, session: Copied, tmp_path: Path
) -> None:
    for path in session.transcripts:
        with path.open("ab") as file:
            file.truncate(bounded_copy.MOST_BYTES + 1)  # takes no room on the disk
    with pytest.raises(Failed, match="The session is too large to copy"):
        await session.ask(name, tmp_path / "state")
    assert not session.report.exists()
    assert session.left() == []


async def test_a_link_in_a_session_is_not_followed(session: Copied, tmp_path: Path) -> None:
    (session.copilot / "checkpoints").symlink_to("/")
    with pytest.raises(Failed, match="Cannot copy the session"):
        await session.ask("copilot", tmp_path / "state")
    assert not session.report.exists()
    assert session.left() == []


@pytest.mark.parametrize("name", ["gemini", "copilot"])
async def test_copying_counts_as_time_of_the_document(
    name: str, session: Copied, tmp_path: Path
) -> None:
    with pytest.raises(Failed, match="timed out before it wrote a document"):
        await session.ask(name, tmp_path / "state", deadline=0)
    assert not session.report.exists()
    async with asyncio.timeout(120):  # the thread removes what it has begun
        while session.left():
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("name", CLIS)
async def test_a_copy_has_the_markers_of_its_agent(
    name: str, session: Copied, tmp_path: Path
) -> None:
    """What it starts is refused what the agent is refused."""
    with suppress(Failed):
        await session.ask(name, tmp_path / "state")
    found = session.variables()
    assert found["COCKPIT_RUN"] == "api-run"
    assert found["COCKPIT_SOCKET"] == "/run/cockpit.sock"
    assert found["COCKPIT_STATE"] == str(tmp_path / "state")


async def test_a_copy_has_the_users_settings_but_none_of_its_permissions(
    session: Copied, tmp_path: Path
) -> None:
    users = {"OPENCODE_CONFIG_CONTENT": '{"provider": {}}', "OPENCODE_PERMISSION": '{"*": "allow"}'}
    with suppress(Failed):
        await session.ask("opencode", tmp_path / "state", more={**users, "COCKPIT_OPENCODE": "{}"})
    found = session.variables()
    assert found["OPENCODE_CONFIG_CONTENT"] == users["OPENCODE_CONFIG_CONTENT"]
    assert json.loads(found["OPENCODE_PERMISSION"]) == {"*": "deny"}
    assert "COCKPIT_OPENCODE" not in found


@pytest.mark.parametrize("name", ["codex", "gemini", "copilot"])
async def test_a_copy_does_not_run_where_the_repositorys_settings_are(
    name: str, session: Copied, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    with suppress(Failed):
        await session.ask(name, state)
    assert session.place() == state / "copies"
    assert (state / "copies").stat().st_mode & 0o777 == 0o700
    session.report.unlink()
    (state / "copies" / ".mcp.json").write_text("{}")
    with pytest.raises(Failed, match="Cannot start a copy"):
        await session.ask(name, state)
    assert not session.report.exists()
