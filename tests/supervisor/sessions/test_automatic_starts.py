"""Agents with `start = "auto"`: one that cannot be started does not affect the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


async def test_a_file_that_cannot_be_written_keeps_no_other_agent_from_starting(
    cockpit: Cockpit,
) -> None:
    more = 'start = "auto"'
    tables = [cockpit.agent(name, mode="observe", steps=2, more=more) for name in ("api", "web")]
    # A folder stands where the settings of the first agent's CLI are written.
    (cockpit.places.state / "settings" / "api.json").mkdir(parents=True)
    async with cockpit.flying(*tables) as supervisor:
        await supervisor.automatic_starts.run()
        await cockpit.until(lambda row: row.pid is not None, "web")
        event = await cockpit.event("agent.not_started")
        assert event.agent == "api"
        assert "Try again: cockpit start api" in event.text
        assert (await cockpit.row("api")).pid is None


async def test_a_file_that_cannot_be_written_after_a_setup_is_told_on_the_row(
    cockpit: Cockpit,
) -> None:
    worktree = '[agents.worktree]\nstrategy = "git_worktree"\nbranch = "agent/{agent}"\n'
    table = cockpit.agent(mode="observe", steps=2, more=worktree + 'setup = ["true"]\n')
    (cockpit.places.state / "settings" / "api.json").mkdir(parents=True)
    async with cockpit.flying(table):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.needs)
        assert row.needs is not None
        assert "Try again: cockpit start api" in row.needs.detail
        assert (await cockpit.event("agent.not_started")).agent == "api"
        (cockpit.places.state / "settings" / "api.json").rmdir()
        await cockpit.start()
        await cockpit.until(lambda row: row.pid)
