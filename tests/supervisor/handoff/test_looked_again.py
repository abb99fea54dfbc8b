"""What changed meanwhile counts: the branch that an agent switched to, marks that were lowered."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.core import document
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Approve, Handoff, Load

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


def reviewed(row: AgentStatus) -> bool:
    return row.needs is not None and row.needs.kind == "review"


async def test_prompt_document_and_row_name_the_branch_that_was_switched_to(
    cockpit: Cockpit,
) -> None:
    async with cockpit.flying(cockpit.agent(mode="prompt", steps=6, pause=2, step_tokens=100)):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        subprocess.run(["git", "switch", "-q", "-c", "side"], cwd=cockpit.repository, check=True)
        await cockpit.ask(Handoff(name="api"))
        row = await cockpit.until(reviewed)
        assert row.branch == "side"
        assert row.handoff is not None
        front = document.read(Path(str(row.handoff.document)).read_text()).front
        assert front is not None
        assert front.branch == "side"
        await cockpit.ask(Approve(name="api"))
        second = await cockpit.until(lambda row: row.handoffs == 1 and row.handoff is None)
        assert "on this branch (`side`)" in cockpit.prompts(second)[0]


@pytest.mark.long
async def test_lowered_marks_begin_handoffs_of_agents_that_are_idle(cockpit: Cockpit) -> None:
    names = ("api", "web", "docs")

    def tables(act: str) -> list[str]:
        marks = f'[agents.context]\nnotice = "10%"\nwarn = "15%"\nact = "{act}"\nforce = "90%"'
        return [
            cockpit.agent(name, "prompt", steps=9, pause=3, step_tokens=24_000, more=marks)
            for name in names
        ]

    async with cockpit.flying(*tables("70%")):
        for name in names:
            await cockpit.start(name)
        for name in names:
            row = await cockpit.until(lambda row: row.state == "idle", name)
            assert row.handoff is None
        config = cockpit.configure(*tables("20%"))
        await cockpit.ask(Load(config=str(config), named=True))
        for name in names:
            asked = await cockpit.until(lambda row: row.needs is not None, name)
            assert asked.needs is not None
            assert asked.needs.kind == "handoff"
