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
    NoSuchAgent,
    NoSupervisor,
    NotAllowed,
    NotNow,
    OsProblem,
    ProgramMissing,
    Unreachable,
)
from cockpit.core.problems import KINDS, PREFIX, problem
from cockpit.supervisor.api.refusals import refusal
from cockpit.supervisor.api.request_checks import (
    LONGEST_ADDRESS,
    InvalidRequest,
    check_address,
    validated,
)
from cockpit.supervisor.api.request_content import LARGEST_REQUEST
from cockpit.wire.status import Wire
from cockpit.wire.verbs import VERBS, Refusal, RemoveWorktree, Send, Snooze, Start
from cockpit.wire.views import EventsQuery, Query

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
    OsProblem: (500, Failed),
    NoSupervisor: (503, NoSupervisor),
    Unreachable: (503, NoSupervisor),
}
"""Error -> its status, and what a client raises for it."""

NOBODY = {
    "resume": 404, "stop": 404, "send": 404, "handoff": 404, "approve": 404, "refuse": 404,
    "snooze": 404, "done": 404, "undo": 404, "attach": 404, "answer": 404, "forget": 404,
    "moved": 404, "adopt": 404, "watch_session": 404, "document_session": 404,
}  # fmt: skip
"""Verbs for an agent or a session that is not there."""
NEEDED: dict[str, dict[str, Any]] = {
    "send": {"text": "Go on."},
    "answer": {"dialog": "d", "choices": [1]},
    "moved": {"handoff": "h"},
    "adopt": {"session": "nobody"},
    "watch_session": {"session": "nobody"},
    "document_session": {"session": "nobody"},
}
"""What a verb needs besides a name."""
REFUSED: dict[str, dict[str, Any]] = {
    "rename": {"name": "nobody", "to": "Some Body"},
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


def test_a_refusal_is_a_problem_document_with_the_fields_of_before() -> None:
    answer = refusal(NotNow("api has no pane", "It was not started.", "Start it"))
    assert answer.media_type == "application/problem+json"
    assert json.loads(bytes(answer.body)) == {
        "type": "urn:problem-type:cockpit:not-now",
        "status": 409,
        "title": "api has no pane",
        "detail": "It was not started.",
        "hint": "Start it",
        "exit_code": 5,
    }


def test_every_kind_of_problem_is_explained() -> None:
    for kind in STATUS:
        assert problem(kind("title"))["type"].removeprefix(PREFIX) in KINDS
    assert problem(CockpitError("title"))["type"] == f"{PREFIX}failed"


INVALID: list[tuple[type[Wire], Any, list[dict[str, str]]]] = [
    (Send, {"text": 1}, [{"pointer": "#/name", "detail": "is missing"},
                         {"pointer": "#/text", "detail": "must be text"}]),
    (Send, [], [{"pointer": "#", "detail": "must be an object"}]),
    (Start, {"name": "a", "worktree": "yes", "mode": "fast"},
     [{"pointer": "#/worktree", "detail": "must be true or false"},
      {"pointer": "#/mode", "detail": "must be 'observe', 'prompt' or 'auto'"}]),
    (Snooze, {"name": "a", "seconds": -1, "percent": 101},
     [{"pointer": "#/seconds", "detail": "must be at least 0.0"},
      {"pointer": "#/percent", "detail": "must be at most 100.0"}]),
    (RemoveWorktree, {"tree": "t", "leave_out": ["a", 1], "pid": 1.5},
     [{"pointer": "#/leave_out/1", "detail": "must be text"},
      {"pointer": "#/pid", "detail": "must be a whole number"}]),
    (EventsQuery, {"after": "-1", "limit": "ten", "follow": "maybe"},
     [{"parameter": "after", "detail": "must be at least 0"},
      {"parameter": "limit", "detail": "must be a whole number"},
      {"parameter": "follow", "detail": "must be '0', '1', 'false' or 'true'"}]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "found", "errors"), INVALID)
def test_each_value_that_is_not_valid_is_named(
    kind: type[Wire], found: Any, errors: list[dict[str, str]]
) -> None:
    with pytest.raises(InvalidRequest) as wrong:
        validated(kind, found, "Not valid", of_address=issubclass(kind, Query))
    told = json.loads(bytes(refusal(wrong.value).body))
    assert (told["status"], told["errors"]) == (400, errors)
    assert "pydantic" not in str(told)
    for one in errors:
        assert one["detail"] in told["detail"]


def test_no_field_of_a_request_is_refused_in_words_of_a_library() -> None:
    """Every field of every request, with values of every type."""
    odd: tuple[Any, ...] = (None, True, -1, 10**30, 1.5, "x", [], [None], {}, {"a": 1}, 1e308)
    for kind in VERBS:
        for name in kind.model_fields:
            for value in odd:
                try:
                    validated(kind, {name: value}, "Not valid")
                except InvalidRequest as wrong:
                    details = {one["detail"] for one in wrong.errors}
                    assert "is not valid" not in details, (kind, name, value)
                    assert not any("Input" in one or "{" in one for one in details)


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
        async with asyncio.timeout(120):
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
        asked = {"name": "nobody"} | NEEDED.get(verb, {})
        cases.append(("POST", f"/v1/{verb}", json.dumps(asked).encode(), status))
    for verb, asked in REFUSED.items():
        cases.append(("POST", f"/v1/{verb}", json.dumps(asked).encode(), 400))
    for kind in VERBS:
        cases.append(("POST", f"/v1/{kind.verb}", b"[", 400))
        cases.append(("GET", f"/v1/{kind.verb}", b"", 405))
    idle = ("approve", "refuse", "snooze", "attach")
    cases += [("POST", f"/v1/{verb}", b'{"name": "api"}', 409) for verb in idle]
    cases += [("POST", "/v1/weather", b"{}", 404), ("DELETE", "/v1/status", b"", 405)]
    cases += [("GET", f"/v1/{view}?{wrong}", b"", 400) for view, wrong in WRONG_QUERIES]
    async with cockpit.flying(cockpit.agent()):
        for method, target, sent, expected in cases:
            status, body = await answered(socket, method, target, sent)
            assert (method, target, sent, status, body) == (method, target, sent, expected, body)
            refused = Refusal.model_validate_json(body)
            assert refused.status == status
            assert refused.type.removeprefix(PREFIX) in KINDS
            assert refused.title.strip(), (method, target, sent)
            assert refused.exit_code in {2, 3, 5}, (method, target, sent)


WRONG_QUERIES = (
    ("events", "after=-1"), ("events", "limit=x"), ("events", "follow=2"), ("watch", "beat=1.5"),
    ("history", "handoffs=-5"), ("history", "limit=99999999999999999999"), ("diff/api", "since=x"),
    ("status", "elsewhere=2"), ("elsewhere", "beat=x"),
)  # fmt: skip


@pytest.mark.tmux
async def test_what_is_not_http_and_what_is_unknown_get_our_words(cockpit: Cockpit) -> None:
    socket = cockpit.places.socket
    async with cockpit.flying(cockpit.agent()):
        reader, writer = await asyncio.open_unix_connection(str(socket))
        writer.write(b"HELO there\r\n\r\n")
        async with asyncio.timeout(120):
            head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
        assert head.startswith(
            b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/problem+json"
        )
        assert Refusal.model_validate_json(body).title == "Invalid HTTP/1.1 request"
        status, body = await answered(socket, "DELETE", "/v1/stop")
        told = Refusal.model_validate_json(body)
        assert (status, told.type) == (405, f"{PREFIX}unknown-request")
        assert told.detail == "Allowed methods: POST."


@pytest.mark.tmux
async def test_an_error_of_cockpit_is_named_and_logged_and_not_shown(
    cockpit: Cockpit, caplog: pytest.LogCaptureFixture
) -> None:
    async with cockpit.flying(cockpit.agent()) as supervisor:
        supervisor.dependencies.event_log.close()  # whatever breaks
        supervisor.dependencies.store.close()
        status, body = await answered(cockpit.places.socket, "GET", "/v1/events")
    told = json.loads(body)
    name = told["instance"].rpartition(":")[2]
    assert (status, told["type"]) == (500, f"{PREFIX}failed")
    assert name in told["detail"]
    assert "sqlite" not in body.decode().lower()
    assert f"error {name}" in caplog.text


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
