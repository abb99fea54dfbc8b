"""`history.search`: documents found by what they say, whoever sealed them and whenever."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.core.errors import NotNow
from cockpit.wire.verbs import Continue, Handoff, Refuse

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


async def test_what_was_sealed_is_found_with_its_line_also_when_its_file_is_gone(
    cockpit: Cockpit,
) -> None:
    async with cockpit.flying(cockpit.agent(mode="prompt", steps=9, pause=2, step_tokens=100)):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        await cockpit.ask(Handoff(name="api", now=True))
        row = await cockpit.until(lambda row: row.needs and row.needs.kind == "review")
        assert row.handoff is not None
        assert row.handoff.document is not None
        told = await cockpit.client.continuation("api")
        assert row.handoff.document in told
        search = cockpit.client.history
        ((session,),) = [each.sessions for each in await search(search="COUNT step")]
        (found,) = session.handoffs
        assert found.id == session.documents[0].id == row.handoff.id
        assert found.outcome is None
        assert "Count the steps" in (found.found or "")
        assert await search(search='count "nowhere') == []
        # The counts of the live session can change between the two.
        both = [await search("api", search="\x00 "), await search("api")]
        listed, all_of_it = ([each.sessions[0].handoffs for each in chains] for chains in both)
        assert listed == all_of_it

        await cockpit.ask(Refuse(name="api"))
        await cockpit.until(lambda row: row.handoff is None)
        with pytest.raises(NotNow, match="No handoff is in progress"):
            await cockpit.client.continuation("api")
        Path(row.handoff.document).unlink()
        assert [each.agent for each in await search(search="count step")] == ["api"]
        ((session,),) = [each.sessions for each in await search("api")]
        assert [each.outcome for each in session.handoffs] == ["refused"]
        await cockpit.ask(
            Continue(document=row.handoff.document, name="again", directory=str(cockpit.home))
        )
        again = await cockpit.until(lambda row: row.session_id, "again")
        assert again.directory == str(cockpit.home)


@pytest.mark.long
async def test_documents_of_before_are_taken_up_by_the_next_supervisor(cockpit: Cockpit) -> None:
    agent = cockpit.agent(mode="prompt", steps=9, pause=2, step_tokens=100)
    async with cockpit.flying(agent):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        await cockpit.ask(Handoff(name="api", now=True))
        row = await cockpit.until(lambda row: row.needs and row.needs.kind == "review")
        assert row.handoff is not None
        assert row.handoff.document is not None
        await cockpit.ask(Refuse(name="api"))
        await cockpit.until(lambda row: row.handoff is None)
    Path(row.handoff.document).unlink()
    async with cockpit.flying() as supervisor:
        await cockpit.until(lambda row: row.handoff is None)
        await supervisor.search_index.catch_up()
        assert supervisor.search_index.table.stale() == []
        assert len(supervisor.search_index.table.find(("verified facts",))) == 1
