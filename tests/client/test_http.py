"""The client over real HTTP: what is asked for, what comes back, and every way it can fail."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from cockpit.adapters.kept_host import KeptHost
from cockpit.adapters.remote_host import RemoteHost
from cockpit.client.client import Client
from cockpit.client.http import HttpClient
from cockpit.core.errors import (
    BadUsage,
    CockpitError,
    Failed,
    NoSuchAgent,
    NoSupervisor,
    NotNow,
    ProgramMissing,
)
from cockpit.wire.course import Course, CoursePoint, Stretch
from cockpit.wire.diff import WorktreeDiff
from cockpit.wire.history import to_json
from cockpit.wire.status import AgentStatus, Status
from cockpit.wire.stream import AgentChanged, Event, Snapshot
from cockpit.wire.verbs import Done, Handoff, Start, Stop

One = TypeVar("One")

TOO_OLD = """case "$*" in
*--multiplex*) echo "Error: No such option '--multiplex'." >&2; exit 2;;
*) exec "$@";;
esac"""
"""A host whose `dial-stdio` has no options."""

ROW = AgentStatus(
    name="api",
    runtime="claude",
    state="working",
    directory="/w",
    mode="prompt",
    strategy="handoff",
    max_handoffs=3,
)
EVENT = Event(id=7, at="2026-11-21T20:15:00Z", agent="api", kind="agent.started", text="api began")


def lines(*messages: Any) -> bytes:
    return b"".join(message.model_dump_json().encode() + b"\n" for message in messages)


async def taken(stream: AsyncIterator[One]) -> tuple[list[One], CockpitError | None]:
    """Everything that a stream gives, and what it ends with."""
    found: list[One] = []
    try:
        async for one in stream:
            found.append(one)  # noqa: PERF401 (what came before the error is the point)
    except CockpitError as error:
        return found, error
    return found, None


@pytest.fixture(params=["its socket", "a process", "a stream", "an old host"])
def client_of(request: Any, connect: Any, own_home: Path) -> Iterator[Callable[[Any], HttpClient]]:
    """Makes a client; every test here holds whichever way the supervisor is reached."""
    far = RemoteHost("gpu1", connect(own_home / "ck"))
    old = RemoteHost("gpu1", ["sh", "-c", TOO_OLD, "gpu1", *connect(own_home / "ck")])
    kept = {"a stream": KeptHost(far), "an old host": KeptHost(old)}

    def make(answering: Any) -> HttpClient:
        addresses = {"its socket": answering.path, "a process": far, **kept}
        client = HttpClient(addresses[request.param])
        _as_protocol: Client = client
        return client

    yield make
    for each in kept.values():
        each.close()


async def test_status_comes_as_the_model(client_of: Any, answering: Any) -> None:
    answering.say("GET /v1/status", lines(Status(agents=[ROW])))

    assert (await client_of(answering).status()).agents == [ROW]


async def test_a_body_may_come_in_many_pieces(client_of: Any, answering: Any) -> None:
    whole = lines(Status(agents=[ROW]))
    answering.say("GET /v1/status", *(whole[i : i + 7] for i in range(0, len(whole), 7)))

    assert (await client_of(answering).status()).agents == [ROW]


async def test_a_verb_goes_to_its_own_address_without_what_was_not_said(
    client_of: Any, answering: Any
) -> None:
    answering.say("POST /v1/handoff", lines(Done(message="asked api")))

    done = await client_of(answering).ask(Handoff(name="api", now=True))

    assert done.message == "asked api"
    assert answering.asked == [
        ("POST /v1/handoff", {"name": "api", "now": True, "by_agent": False, "dry_run": False}),
    ]


@pytest.mark.parametrize(
    ("code", "kind"),
    [(1, Failed), (2, BadUsage), (3, NoSuchAgent), (4, NoSupervisor), (5, NotNow),
     (6, ProgramMissing)],
)  # fmt: skip
async def test_a_refusal_is_the_error_that_it_was(
    client_of: Any, answering: Any, code: int, kind: type[CockpitError]
) -> None:
    refusal = {"exit_code": code, "title": "no", "detail": "because", "hint": "try"}
    answering.say("POST /v1/stop", refusal, status=409)

    with pytest.raises(kind) as caught:
        await client_of(answering).ask(Stop(name="api"))

    assert (caught.value.title, caught.value.detail, caught.value.hint) == ("no", "because", "try")


ASK: dict[str, Callable[[HttpClient], Any]] = {
    "GET /v1/status": lambda client: client.status(),
    "POST /v1/stop": lambda client: client.ask(Stop(name="api")),
    "GET /v1/events?after=0&limit=200": lambda client: client.events(),
    "GET /v1/facts/api": lambda client: client.facts("api"),
    "GET /v1/history?limit=100": lambda client: client.history(),
    "GET /v1/course/api": lambda client: client.course("api"),
    "GET /v1/diff/api": lambda client: client.diff("api"),
    "GET /v1/worktrees": lambda client: client.worktrees(),
}


BROKEN = (b"<html>", b'{"agents": [', b"[7]", b"\xff")
CASES = [(line, body) for line in ASK for body in BROKEN if "facts" not in line or body != b"[7]"]
"""Facts are passed on as they are."""


@pytest.mark.parametrize(("request_line", "body"), CASES)
async def test_an_answer_that_is_not_valid_is_a_failure_with_a_next_step(
    client_of: Any, answering: Any, request_line: str, body: bytes
) -> None:
    answering.say(request_line, body)
    with pytest.raises(Failed) as caught:
        await ASK[request_line](client_of(answering))
    assert caught.value.title == "The supervisor's response is not valid"
    assert "cockpit doctor" in caught.value.hint


async def test_a_path_that_is_not_utf_8_is_refused_before_it_is_sent(
    client_of: Any, answering: Any
) -> None:
    with pytest.raises(BadUsage) as caught:
        await client_of(answering).ask(Start(name="api", directory="/w/caf\udce9"))
    assert "not valid UTF-8" in caught.value.title
    assert answering.asked == []


@pytest.mark.parametrize(("status", "kind"), [(404, NotNow), (501, NotNow), (500, Failed)])
@pytest.mark.parametrize("body", [b"", b"<html>", b'{"exit_code": 99}', b"[1]"])
async def test_an_answer_without_a_reason_still_has_one(
    client_of: Any, answering: Any, status: int, kind: type[CockpitError], body: bytes
) -> None:
    answering.say("GET /v1/status", body, status=status)

    with pytest.raises(kind, match=r".+"):
        await client_of(answering).status()


async def test_watch_gives_what_it_knows_and_ends_with_the_supervisor(
    client_of: Any, answering: Any
) -> None:
    foreign = b'{"type": "weather", "sky": "blue"}\n\n'
    said = lines(Snapshot(status=Status())) + foreign + lines(AgentChanged(agent=ROW))
    answering.say("GET /v1/watch", said[:30], said[30:31], said[31:])

    found, end = await taken(client_of(answering).watch())

    assert found == [Snapshot(status=Status()), AgentChanged(agent=ROW)]
    assert isinstance(end, NoSupervisor)


async def test_events_after_one_and_following(client_of: Any, answering: Any) -> None:
    answering.say("GET /v1/events?after=6&limit=200", lines(EVENT))
    answering.say("GET /v1/events?after=6&follow=1", lines(EVENT))
    client = client_of(answering)

    assert await client.events(after=6) == [EVENT]
    found, end = await taken(client.follow(after=6))
    assert found == [EVENT]
    assert isinstance(end, NoSupervisor)


async def test_a_screen_line_of_a_megabyte_arrives(client_of: Any, answering: Any) -> None:
    shot = {"lines": ["x" * 1_000_000], "cursor": [1, 2], "pane": "%3"}
    answering.say("GET /v1/screen/api?history=5", json.dumps(shot).encode() + b"\n")

    found, _ = await taken(client_of(answering).screen("api", 5))

    assert [len(one.lines[0]) for one in found] == [1_000_000]


async def test_an_id_cannot_reach_another_address(client_of: Any, answering: Any) -> None:
    answering.say("GET /v1/document/..%2F..%2Fdown%3Fagents%3D1", b"text")

    assert await client_of(answering).document("../../down?agents=1") == "text"


async def test_history_is_asked_for_an_agent_and_for_words(client_of: Any, answering: Any) -> None:
    answering.say("GET /v1/history?limit=100", [{"agent": "api"}])
    newer = {"chains": [{"agent": "api", "job": "b"}], "next": "b", "total": 2}
    older = {"chains": [{"agent": "api", "job": "a"}], "next": None, "total": 2}
    answering.say("GET /v1/history?name=api&limit=100", newer)
    answering.say("GET /v1/history?name=api&limit=100&before=b", older)
    answering.say("GET /v1/history?handoffs=5&before=h", older)
    answering.say("GET /v1/history?name=api&search=%22a%26b%22+%2A", [{"agent": "web"}])
    client = client_of(answering)

    assert [to_json(one) for one in await client.history()] == [{"agent": "api"}]
    assert [chain.job for chain in await client.history("api")] == ["a", "b"]
    assert (await client.history_page(5, "h")).total == 2
    found = await client.history("api", '"a&b" *')
    assert [to_json(one) for one in found] == [{"agent": "web"}]


async def test_a_course_and_a_diff_come_as_their_models(client_of: Any, answering: Any) -> None:
    course = Course(
        agent="api",
        stretches=[Stretch(session="s", number=1, state="live", points=[CoursePoint(1, 9_000)])],
    )
    diff = WorktreeDiff(directory="/w", text="+one\n")
    answering.say("GET /v1/course/api", lines(course))
    answering.say("GET /v1/diff/api", lines(diff))
    answering.say("GET /v1/diff/api?since=job", lines(diff.model_copy(update={"of_job": True})))
    client = client_of(answering)

    assert await client.course("api") == course
    assert await client.diff("api") == diff
    assert (await client.diff("api", of_job=True)).of_job


async def test_nobody_there(own_home: Path) -> None:
    with pytest.raises(NoSupervisor, match="cockpit up"):
        await HttpClient(own_home / "none").status()


async def test_an_answer_that_breaks_off(client_of: Any, answering: Any) -> None:
    answering.say("GET /v1/status", b'{"version": 1')
    answering.breaks_off = True

    with pytest.raises(NoSupervisor, match="Lost connection"):
        await client_of(answering).status()


async def test_leaving_a_stream_early_hangs_up(client_of: Any, answering: Any) -> None:
    answering.say("GET /v1/watch", lines(*[Snapshot(status=Status())] * 50))
    stream = client_of(answering).watch()
    try:
        assert await anext(stream) == Snapshot(status=Status())
    finally:
        await stream.aclose()
