"""`history.chains`: what is listed of a session that left more than one document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cockpit.wire.verbs import Down, Handoff, Refuse

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


async def test_an_earlier_document_of_the_same_session_stays_in_the_list(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="prompt", steps=9, pause=2, step_tokens=100)):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        left = []
        for _ in range(2):
            await cockpit.ask(Handoff(name="api", now=True))
            row = await cockpit.until(lambda row: row.needs and row.needs.kind == "review")
            assert row.handoff is not None
            left.append(row.handoff.id)
            await cockpit.ask(Refuse(name="api"))
        ((session,),) = [each.sessions for each in await cockpit.client.history("api")]
        assert [each.id for each in session.documents] == left
        assert [each.outcome for each in session.documents] == ["refused", "refused"]
        assert all(each.writer for each in session.documents)
        assert session.documents[-1].path == session.document
        assert session.documents[0].path != session.document


async def test_sessions_that_were_ended_with_all_agents_are_over(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="observe", steps=3)):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "done")
        await cockpit.ask(Down(agents=True))
        (chain,) = await cockpit.client.history("api")
        (session,) = chain.sessions
        assert session.state == "ended"
        assert session.ended_at is not None
