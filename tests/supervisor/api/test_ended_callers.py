"""A connection whose process has ended reads and changes nothing; it may have been an agent's."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from cockpit.core.callers import Caller, CallerKind, refuse_if_ended
from cockpit.core.errors import NotAllowed
from cockpit.wire.verbs import VERBS, Verb
from cockpit.wire.views import OPENAPI_PATH, VIEWS

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

ANSWERED = {"/v1/caller", OPENAPI_PATH}
"""What anybody may read: who it is, and the description of the API."""

ASKER = r"""
import json, os, socket, sys

path, late, requests = sys.argv[1], sys.argv[2] == "late", json.loads(sys.argv[3])

def ask(connection, request):
    connection.sendall(request.encode())
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += connection.recv(65536)
    head, _, body = answer.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    while len(body) < int(fields.get(b"content-length", 0)):
        body += connection.recv(65536)
    return int(head.split()[1]), body.decode()

connections = []
for request in requests:
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(10)
    if os.fork() == 0:  # the kernel names this process as the peer
        connection.connect(path)
        if late:
            ask(connection, "GET /v1/caller HTTP/1.1\r\nHost: x\r\n\r\n")
        os._exit(0)
    os.wait()
    connections.append(connection)
if not late:
    print("connected", flush=True)
    sys.stdin.readline()
print(json.dumps([ask(*pair) for pair in zip(connections, requests)]))
"""
"""Sends requests over connections whose processes have ended: before they are accepted, or after a
first response."""


def _request(method: str, path: str, body: object = None) -> str:
    content = json.dumps(body) if body is not None else ""
    return (
        f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        f"Content-Length: {len(content)}\r\n\r\n{content}"
    )


def _body(verb: type[Verb]) -> dict[str, Any]:
    """The required fields of a verb, which are texts or lists of numbers."""
    return {
        name: [1] if field.annotation == list[int] else "api"
        for name, field in verb.model_fields.items()
        if field.is_required()
    }


def _asker(cockpit: Cockpit, when: str, requests: list[str], run: str) -> subprocess.Popen[str]:
    marks = {"COCKPIT_RUN": run, "COCKPIT_SOCKET": str(cockpit.places.socket)} if run else {}
    return subprocess.Popen(
        [sys.executable, "-c", ASKER, str(cockpit.places.socket), when, json.dumps(requests)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **marks},
    )


async def _answers(
    cockpit: Cockpit, when: str, requests: list[str], run: str = ""
) -> list[tuple[int, str]]:
    asker = _asker(cockpit, when, requests, run)
    if when == "early":  # the supervisor, in this process, accepts nothing until we await
        assert asker.stdout
        assert asker.stdout.readline() == "connected\n"
    printed, _ = await asyncio.to_thread(asker.communicate, "\n")
    return [(status, body) for status, body in json.loads(printed)]


@pytest.mark.tmux
async def test_a_process_that_has_ended_reads_and_changes_nothing(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(mode="observe", steps=1)) as supervisor:
        await cockpit.start()
        await cockpit.until(lambda row: row.state in ("idle", "done"))
        run = supervisor.fleet.agent("api").record.run or ""
        paths = [OPENAPI_PATH, *(view.path.format(name="api", ident="1") for view in VIEWS)]
        requests = [_request("GET", path) for path in paths]
        requests += [_request("POST", f"/v1/{verb.verb}", _body(verb)) for verb in VERBS]
        asked = [*paths, *(f"/v1/{verb.verb}" for verb in VERBS)]
        before = [event.id for event in await cockpit.events("verb.asked")]
        for marks in ("", run):
            answers = await _answers(cockpit, "early", requests, marks)
            for path, (status, body) in zip(asked, answers, strict=True):
                if path in ANSWERED:
                    assert status == 200
                    continue
                assert (path, status) == (path, 409), body
                refusal: dict[str, Any] = json.loads(body)
                assert refusal["exit_code"] == NotAllowed.exit_code
                assert "the process that asked to" in refusal["title"]
                assert "cannot tell whether the process was an agent" in refusal["detail"]
                assert "Run the command again" in refusal["hint"]
        assert [event.id for event in await cockpit.events("verb.asked")] == before
        assert (await cockpit.row()).pid


@pytest.mark.tmux
async def test_a_process_that_ends_after_its_connection_was_accepted_stays_known(
    cockpit: Cockpit,
) -> None:
    tables = [cockpit.agent(name, mode="observe", steps=1) for name in ("api", "web")]
    async with cockpit.flying(*tables) as supervisor:
        for name in ("api", "web"):
            await cockpit.start(name)
            await cockpit.until(lambda row: row.state in ("idle", "done"), name)
        requests = [_request("GET", f"/v1/{path}") for path in ("caller", "facts/web")]
        (who, facts) = await _answers(cockpit, "late", requests)
        assert (json.loads(who[1])["kind"], facts[0]) == ("user", 200)
        run = supervisor.fleet.agent("api").record.run or ""
        (who, facts) = await _answers(cockpit, "late", requests, run)
        found = json.loads(who[1])
        assert (found["kind"], found["name"], facts[0]) == ("agent", "api", 409)


@pytest.mark.parametrize("kind", list(CallerKind))
def test_only_a_caller_that_is_unknown_is_refused_for_its_end(kind: CallerKind) -> None:
    if kind is not CallerKind.UNKNOWN:
        refuse_if_ended(Caller(kind), "read this")
        return
    with pytest.raises(NotAllowed, match="has ended"):
        refuse_if_ended(Caller(kind), "read this")
