"""A refusal is a 4xx that says why and what to do; only our own failures are 5xx."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cockpit.client.refusals import refusal as refusal_of
from cockpit.core.errors import (
    BadConfig,
    BadUsage,
    CockpitError,
    Failed,
    Hindered,
    NoSuchAgent,
    NoSupervisor,
    NotAllowed,
    NotNow,
    ProgramMissing,
    Unreachable,
)
from cockpit.supervisor.api.refusals import refusal
from cockpit.supervisor.api.request_checks import LONGEST_ADDRESS, check_address
from cockpit.supervisor.api.server import LARGEST_REQUEST
from cockpit.wire.verbs import VERBS, Refusal

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

STATUS: dict[type[CockpitError], tuple[int, type[CockpitError]]] = {
    BadUsage: (400, BadUsage),
    BadConfig: (400, BadUsage),
    NoSuchAgent: (404, NoSuchAgent),
    NotNow: (409, NotNow),
    NotAllowed: (409, NotNow),
    ProgramMissing: (424, ProgramMissing),
    Failed: (500, Failed),
    Hindered: (500, Failed),
    NoSupervisor: (503, NoSupervisor),
    Unreachable: (503, NoSupervisor),
}
"""Error -> its status, and what a client raises for it."""

NOBODY = {
    "resume": 404, "stop": 404, "send": 404, "handoff": 404, "approve": 404, "refuse": 404,
    "snooze": 404, "done": 404, "undo": 404, "attach": 404,
}  # fmt: skip
"""Verbs for an agent that is not there."""
REFUSED: dict[str, dict[str, Any]] = {
    "start": {"name": "No Name"},
    "plan": {"name": "No Name"},
    "continue": {"document": "/nowhere/at/all.md"},
    "remove_worktree": {"tree": "nobody"},
    "load": {"config": "/nowhere/at/all.toml", "named": True},
}
"""Verbs that need no agent, with what they refuse."""


def test_every_error_has_a_status_and_comes_back() -> None:
    def kinds(kind: type[CockpitError]) -> set[type[CockpitError]]:
        return {kind}.union(*(kinds(one) for one in kind.__subclasses__()))

    ours = {kind for kind in kinds(CockpitError) if kind.__module__ == CockpitError.__module__}
    assert ours - {CockpitError} == set(STATUS)
    for kind, (status, raised) in STATUS.items():
        answer = refusal(kind("title", "detail", "hint"))
        assert (kind, answer.status_code) == (kind, status)
        read = refusal_of(status, bytes(answer.body))
        assert (kind, type(read)) == (kind, raised)
        assert (read.title, read.detail, read.hint) == ("title", "detail", "hint")


@pytest.mark.parametrize(
    ("path", "query"),
    [(b"/v1/status", b"x" * LONGEST_ADDRESS), (b"/v1/facts/\xff", b""), (b"/v1/facts/%FF", b""),
     (b"/v1/facts/a%00b", b""), (b"/v1/events", b"after=%ED%A0%80")],
    ids=["too long", "bytes", "quoted bytes", "NUL", "surrogate"],
)  # fmt: skip
def test_an_address_that_is_no_text_is_bad_usage(path: bytes, query: bytes) -> None:
    with pytest.raises(BadUsage):
        check_address(path, query)


def test_an_address_may_be_as_long_as_the_limit_and_a_search_any_bytes() -> None:
    path = b"/v1/history"
    check_address(path, b"n" * (LONGEST_ADDRESS - len(path)))
    check_address(path, b"search=%FF%00")


async def answered(socket: Path, method: str, target: str, sent: bytes = b"") -> tuple[int, bytes]:
    """Status and body."""
    reader, writer = await asyncio.open_unix_connection(str(socket))
    head = f"{method} {target} HTTP/1.0\r\nHost: x\r\nContent-Length: {len(sent)}\r\n\r\n"
    try:
        writer.write(head.encode() + sent)
        async with asyncio.timeout(30):
            await writer.drain()
            head_, _, body = (await reader.read()).partition(b"\r\n\r\n")
        return int(head_.split()[1]), body
    finally:
        writer.close()


@pytest.mark.tmux
async def test_every_verb_is_refused_with_a_reason_and_a_4xx(cockpit: Cockpit) -> None:
    socket = cockpit.places.socket
    assert {kind.verb for kind in VERBS} == {*NOBODY, *REFUSED, "down"}
    cases: list[tuple[str, str, bytes, int]] = []
    for verb, status in NOBODY.items():
        asked = {"name": "nobody"} | ({"text": "Go on."} if verb == "send" else {})
        cases.append(("POST", f"/v1/{verb}", json.dumps(asked).encode(), status))
    for verb, asked in REFUSED.items():
        cases.append(("POST", f"/v1/{verb}", json.dumps(asked).encode(), 400))
    for kind in VERBS:
        cases.append(("POST", f"/v1/{kind.verb}", b"[", 400))
        cases.append(("GET", f"/v1/{kind.verb}", b"", 405))
    idle = ("approve", "refuse", "snooze", "attach")
    cases += [("POST", f"/v1/{verb}", b'{"name": "api"}', 409) for verb in idle]
    cases += [("POST", "/v1/weather", b"{}", 404), ("DELETE", "/v1/status", b"", 405)]
    async with cockpit.flying(cockpit.agent()):
        for method, target, sent, expected in cases:
            status, body = await answered(socket, method, target, sent)
            assert (method, target, sent, status, body) == (method, target, sent, expected, body)
            refused = Refusal.model_validate_json(body)
            assert refused.title.strip(), (method, target, sent)
            assert refused.exit_code in {2, 3, 5}, (method, target, sent)


@pytest.mark.tmux
async def test_a_request_may_be_as_long_as_the_limit(cockpit: Cockpit) -> None:
    socket, head, end = cockpit.places.socket, b'{"name": "nobody", "x": "', b'"}'
    async with cockpit.flying(cockpit.agent()):
        room = LARGEST_REQUEST - len(head) - len(end)
        for length, expected in ((room, 404), (room + 1, 400)):
            sent = head + b"x" * length + end
            status, body = await answered(socket, "POST", "/v1/stop", sent)
            assert (length, status) == (length, expected)
        assert Refusal.model_validate_json(body).title == "The request is too long"
