"""An error with one agent does not end what serves the others, or the start of the supervisor."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from cockpit.adapters.agents.claude.runtime import Claude
from cockpit.config.paths import Places
from cockpit.core.cli_events import CliEvent
from cockpit.ports.runtimes import Presence, Signal
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.main import dependencies
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Send

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


class Failing(Claude):
    """Claude Code, with a bug that the hooks of one agent bring out, and its presence."""

    def cli_events(self, signal: Signal) -> Sequence[CliEvent]:
        if signal.agent == "api" and signal.event != "SessionStart":
            raise ValueError("a bug in the hooks")
        return super().cli_events(signal)

    def presence(self, pid: int, environment: Mapping[str, str]) -> Presence | None:
        if environment.get("STANDIN_PACE") == "0.06":
            raise ValueError("a bug in the status files")
        return super().presence(pid, environment)


def failing(places: Places) -> Dependencies:
    return replace(dependencies(places), runtimes=lambda _: Failing(places.state))


def both(cockpit: Cockpit) -> list[str]:
    return [
        cockpit.agent("api", "observe", steps=2, step_tokens=100, pace=0.06),
        cockpit.agent("web", "observe", steps=2, step_tokens=100),
    ]


async def test_a_bug_with_one_agents_files_is_shown_on_its_row_alone(cockpit: Cockpit) -> None:
    cockpit.world = failing
    async with cockpit.flying(*both(cockpit)) as supervisor:
        for name in ("api", "web"):
            await cockpit.start(name)
        row = await cockpit.until(lambda row: "a bug in the" in str(row.note))
        assert "see the log" in str(row.note)
        await cockpit.until(lambda row: row.state == "done", "web")
        await cockpit.ask(Send(name="web", text="Once more."))
        web = await cockpit.until(lambda row: row.state == "idle", "web")
        assert "bug" not in str(web.note)
        assert supervisor.loops.trouble is None
    async with cockpit.flying():
        again = await cockpit.until(lambda row: row.pid)
        assert again.pid == row.pid
        await cockpit.until(lambda row: row.pid == web.pid, "web")


async def test_no_session_id_of_a_status_file_stops_the_start(cockpit: Cockpit) -> None:
    async with cockpit.flying(*both(cockpit)):
        for name in ("api", "web"):
            await cockpit.start(name)
        row = await cockpit.until(lambda row: row.state == "done")
        web = await cockpit.until(lambda row: row.state == "done", "web")
    folder = cockpit.home / "claude" / "sessions"
    (file,) = [path for path in folder.glob("*.json") if path.stem == str(row.pid)]
    note = json.loads(file.read_text())
    file.write_text(json.dumps({**note, "sessionId": "\ud800"}))
    assert r"\ud800" in file.read_text()
    async with cockpit.flying():

        def found(row: AgentStatus) -> bool:
            return row.pid is not None

        assert (await cockpit.until(found)).pid == row.pid
        assert (await cockpit.until(found, "web")).pid == web.pid
        assert (await cockpit.row()).session_id == row.session_id
