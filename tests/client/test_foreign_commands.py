"""The commands in what another machine's supervisor says work on this machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cockpit.adapters.kept_host import KeptHost
from cockpit.adapters.remote_host import RemoteHost
from cockpit.client.foreign_status import checked_changes, checked_status
from cockpit.client.http import HttpClient
from cockpit.client.raw_request import fetch, lines
from cockpit.core.errors import NotNow
from cockpit.wire.dialogs import DialogStatus
from cockpit.wire.status import AgentStatus, ElsewhereSession, HandoffStatus, Needs, Status
from cockpit.wire.stream import AgentChanged, Resumed, Snapshot
from cockpit.wire.verbs import Done, Stop
from cockpit.wire.worktrees import Obstacle, WorktreeStatus

HERE = "Stop it: cockpit stop api"
THERE = "Stop it: cockpit stop --host gpu1 api"
ROW = AgentStatus(
    name="api",
    runtime="claude",
    state="working",
    directory="/w",
    mode="prompt",
    strategy="handoff",
    max_handoffs=3,
)
BUSY = ROW.model_copy(
    update={
        "note": HERE,
        "warning": HERE,
        "needs": Needs(kind="failed", detail=HERE, due=HERE),
        "handoff": HandoffStatus(id="h-1", reason="manual", phase="review", since="", detail=HERE),
    }
)


def texts(agent: AgentStatus) -> set[str | None]:
    assert agent.needs is not None
    assert agent.handoff is not None
    needs = agent.needs
    return {agent.note, agent.warning, needs.detail, needs.due, agent.handoff.detail}


@pytest.fixture
def far(connect: Any, answering: Any, own_home: Path) -> Iterator[KeptHost]:
    """The supervisor as that of another machine."""
    host = KeptHost(RemoteHost("gpu1", connect(own_home / "ck")))
    yield host
    host.close()


async def test_a_row_names_commands_for_its_host(far: KeptHost, answering: Any) -> None:
    status = Status(agents=[BUSY, ROW])
    answering.say("GET /v1/status", status.model_dump_json().encode())
    (busy, plain) = (await HttpClient(far).status()).agents
    assert (texts(busy), plain) == ({THERE}, ROW)
    (near, _) = (await HttpClient(answering.path).status()).agents
    assert texts(near) == {HERE}


async def test_a_stream_names_commands_for_its_host(far: KeptHost, answering: Any) -> None:
    status = Status(agents=[BUSY])
    messages = [
        Snapshot(status=status),
        Resumed(status=status, position="p"),
        AgentChanged(agent=BUSY),
    ]
    said = b"".join(message.model_dump_json().encode() + b"\n" for message in messages)
    answering.say("GET /v1/watch", said)
    stream = HttpClient(far).watch()
    for _ in messages:
        line = await anext(stream)
        match line:
            case Snapshot() | Resumed():
                (agent,) = line.status.agents
                assert texts(agent) == {THERE}
            case AgentChanged():
                assert texts(line.agent) == {THERE}
            case _:
                raise AssertionError(line)
    (first, *_) = checked_changes(said.splitlines(), "gpu1")
    assert first["status"]["agents"][0]["note"] == THERE
    assert checked_status(status.model_dump_json().encode(), "gpu1")["agents"][0]["note"] == THERE


@pytest.mark.parametrize("kind", ["permission", "question"])
async def test_what_an_agent_asks_stays_as_it_is(far: KeptHost, answering: Any, kind: Any) -> None:
    needs = Needs(kind=kind, detail=HERE, command="cockpit stop api")
    agent = ROW.model_copy(update={"needs": needs, "goal": HERE, "activity": HERE})
    answering.say("GET /v1/status", Status(agents=[agent]).model_dump_json().encode())
    assert (await HttpClient(far).status()).agents == [agent]


async def test_answers_name_commands_for_their_host(far: KeptHost, answering: Any) -> None:
    client = HttpClient(far)
    answering.say("POST /v1/stop", Done(message=HERE, text=HERE).model_dump_json().encode())
    done = await client.ask(Stop(name="api"))
    assert (done.message, done.text) == (THERE, HERE)
    dialog = DialogStatus(refusal=HERE, text=HERE)
    answering.say("GET /v1/dialog/api", dialog.model_dump_json().encode())
    answer = await client.dialog("api")
    assert (answer.refusal, answer.text) == (THERE, HERE)
    tree = WorktreeStatus(
        directory="/w", repository="/r", made=True, obstacles=[Obstacle(why="busy", next=HERE)]
    )
    answering.say("GET /v1/worktrees", json.dumps([tree.model_dump()]).encode())
    (found,) = await client.worktrees()
    assert [obstacle.next for obstacle in found.obstacles] == [THERE]
    session = ElsewhereSession(
        session_id="s", runtime="claude", pid=7, directory="/w", refusal=HERE, goal=HERE
    )
    status = Status(elsewhere=[session]).model_dump_json().encode()
    answering.say("GET /v1/status?elsewhere=1", status)
    (other,) = await client.elsewhere() or []
    assert (other.refusal, other.goal) == (THERE, HERE)


REQUESTS: dict[str, Callable[[Any], Any]] = {
    "fetch": lambda address: fetch(address, "/v1/watch"),
    "lines": lambda address: list(lines(address, "/v1/watch")),
}


@pytest.mark.parametrize("request_of", REQUESTS.values(), ids=REQUESTS)
async def test_errors_name_commands_for_their_host(
    far: KeptHost, answering: Any, request_of: Callable[[Any], Any]
) -> None:
    refusal = {"exit_code": 5, "title": "It is busy", "detail": f"a\n  {HERE}", "hint": HERE}
    answering.say("GET /v1/watch", refusal, status=409)
    with pytest.raises(NotNow) as refused:
        await anext(HttpClient(far).watch())
    with pytest.raises(NotNow) as refused_raw:
        request_of(far)
    with pytest.raises(NotNow) as refused_here:
        request_of(answering.path)
    assert [(error.value.detail, error.value.hint) for error in (refused, refused_raw)] == [
        (f"a\n  {THERE}", THERE)
    ] * 2
    assert (refused_here.value.detail, refused_here.value.hint) == (f"a\n  {HERE}", HERE)
