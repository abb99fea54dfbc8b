"""Two users at one agent: each is told by name what the other did; nothing is done twice."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from cockpit.config.this_user import this_user
from cockpit.core.errors import NotNow
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Approve, Handoff, Refuse, Verb

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux

ANA, BEN = "ana@laptop", "ben@desk"


async def asked_by(user: str, cockpit: Cockpit, verb: Verb) -> tuple[int, dict[str, Any]]:
    """Ask as a client on another machine does, through a socket; the status and the answer."""
    reader, writer = await asyncio.open_unix_connection(str(cockpit.places.socket))
    body = verb.model_dump_json(exclude_none=True).encode()
    head = (
        f"POST /v1/{verb.verb} HTTP/1.0\r\nHost: cockpit\r\nFrom: {user}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    writer.write(head.encode() + body)
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    head_of_answer, _, rest = answer.partition(b"\r\n\r\n")
    return int(head_of_answer.split()[1]), json.loads(rest)


def reviewed(row: AgentStatus) -> bool:
    return row.needs is not None and row.needs.kind == "review"


async def test_the_second_answer_is_refused_with_the_name_of_the_first(cockpit: Cockpit) -> None:
    more = '[agents.handoff]\nwriters = ["facts"]\n'
    table = cockpit.agent(mode="prompt", steps=6, pause=2, step_tokens=100, more=more)
    async with cockpit.flying(table):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        assert (await asked_by(ANA, cockpit, Handoff(name="api")))[0] == 200
        row = await cockpit.until(reviewed)
        assert row.handoff is not None
        assert row.last_request is not None
        assert (row.last_request.verb, row.last_request.by) == ("handoff", ANA)

        question = row.handoff.id
        assert (await asked_by(ANA, cockpit, Approve(name="api", handoff=question)))[0] == 200
        status, late = await asked_by(BEN, cockpit, Refuse(name="api", handoff=question))

        assert status == 409
        assert late["detail"].startswith(f"Approved by {ANA} "), late
        row = await cockpit.until(lambda row: row.handoffs == 1 and row.handoff is None)
        assert row.last_request is not None
        assert (row.last_request.verb, row.last_request.by) == ("approve", ANA)
        assert row.last_request.handoff == question
        refusal = await cockpit.refused(Approve(name="api", handoff=question))
        assert isinstance(refusal, NotNow)
        assert refusal.detail.startswith(f"Approved by {ANA} ")
        event = await cockpit.event("verb.asked", number=3)
        assert event.text == f"approve requested by {ANA}"
        (chain,) = await cockpit.client.history("api")
        (handoff,) = chain.sessions[0].handoffs
        assert (handoff.outcome, handoff.answered_by) == ("done", ANA)


@pytest.mark.long
async def test_a_forged_name_is_not_shown_and_ours_is(cockpit: Cockpit) -> None:
    more = '[agents.handoff]\nwriters = ["facts"]\n'
    table = cockpit.agent(mode="prompt", steps=6, pause=2, step_tokens=100, more=more)
    async with cockpit.flying(table):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle")
        forged = "ana@laptop \x1b[2J<b>"
        assert (await asked_by(forged.replace("\x1b", ""), cockpit, Handoff(name="api")))[0] == 200
        row = await cockpit.until(reviewed)
        assert row.last_request is not None
        assert row.last_request.by == this_user()
        assert row.handoff is not None
        await cockpit.ask(Refuse(name="api", handoff=row.handoff.id))
        row = await cockpit.until(lambda row: row.handoff is None)
        assert row.last_request is not None
        assert (row.last_request.verb, row.last_request.by) == ("refuse", this_user())
        (chain,) = await cockpit.client.history("api")
        (handoff,) = chain.sessions[0].handoffs
        assert (handoff.outcome, handoff.answered_by) == ("refused", this_user())
        assert handoff.why == "refused by you"
        assert (await asked_by(ANA, cockpit, Handoff(name="api")))[0] == 200
        assert (await cockpit.until(reviewed)).handoff is not None
        assert (await asked_by(BEN, cockpit, Refuse(name="api")))[0] == 200
        told = await cockpit.event("handoff.refused", number=2)
        assert told.text == f"The handoff of api was refused by {BEN}"
