"""Marks that are changed in the file count for agents that fly; nothing else of theirs does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cockpit.wire.verbs import Load

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


async def test_a_living_agent_takes_up_new_marks_and_keeps_the_rest(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="observe", steps=3)):
        await cockpit.start()
        before = await cockpit.until(lambda row: row.state == "done")
        assert (before.context.band, before.context.marks.act) == ("act", 140_000)

        changed = '[agents.context]\nact = "75%"\nforce = "90%"'
        config = cockpit.configure(cockpit.agent(mode="auto", steps=3, more=changed))
        await cockpit.ask(Load(config=str(config), named=True))
        after = await cockpit.row()
        # As close to the CLI's own compaction as a mark may be.
        assert after.context.marks.act == 147_000
        assert (after.context.band, after.mode, after.pid) == ("warn", "observe", before.pid)

    async with cockpit.flying():
        again = await cockpit.until(lambda row: row.pid is not None)
        assert again.context.marks.act == 147_000
