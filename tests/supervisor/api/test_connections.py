"""Connections that an agent keeps open shut nobody out, and a request must arrive in time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from cockpit.client.exchange import Exchange
from cockpit.client.raw_request import fetch
from cockpit.core.errors import CockpitError, NotNow
from cockpit.ports.processes import Ancestor
from cockpit.supervisor.api import connections
from cockpit.supervisor.api.connections import (
    MOST_OF_AGENT,
    MOST_OF_ALL,
    MOST_OF_PROCESS,
    Connections,
)
from cockpit.supervisor.api.listener import bind
from cockpit.supervisor.api.server import server


def _no_ancestry(pid: int) -> list[Ancestor]:
    return []


def table(agents: dict[int, str]) -> Connections:
    return Connections(agents.get, _no_ancestry)


def opened(many: Connections, pid: int, most: int = 2_000) -> int:
    """Open connections until one is refused; how many that were."""
    for count in range(most):
        try:
            many.add(pid)
        except NotNow:
            return count
    return most


def test_an_agents_processes_count_together() -> None:
    many = table({1: "api", 2: "api", 3: "web"})
    assert opened(many, 1, 40) == 40
    assert opened(many, 2) == MOST_OF_AGENT - 40
    with pytest.raises(NotNow, match="Too many connections"):
        many.add(1)
    assert opened(many, 3) == MOST_OF_AGENT
    assert opened(many, 9) == MOST_OF_PROCESS
    many.remove(2)
    many.add(1)


def test_agents_together_leave_half_for_the_user() -> None:
    many = table({pid: f"agent{pid}" for pid in range(1, 100)})
    for pid in range(1, 100):
        opened(many, pid)
    assert len(many) == MOST_OF_ALL // 2
    assert opened(many, 1000) == MOST_OF_PROCESS


def test_agents_that_are_not_known_count_as_one() -> None:
    many = table({1: "", 2: ""})
    assert opened(many, 1) + opened(many, 2) == MOST_OF_AGENT


def test_the_total_is_bounded_whoever_it_is() -> None:
    many = table({})
    assert sum(opened(many, pid) for pid in range(1, 20)) == MOST_OF_ALL
    with pytest.raises(NotNow, match="Too many") as refused:
        many.add(77)
    assert "by process" in refused.value.detail


def test_a_process_that_ended_is_forgotten() -> None:
    asked: list[int] = []

    def agent_of(pid: int) -> str | None:
        asked.append(pid)
        return "api"

    many = Connections(agent_of, _no_ancestry)
    opened(many, 5)
    assert asked == [5]
    for _ in range(MOST_OF_AGENT):
        many.remove(5)
    assert len(many) == 0
    opened(many, 5)
    assert asked == [5, 5]


async def _hello(request: Request) -> Response:
    return PlainTextResponse(await request.body() or b"hello")


@asynccontextmanager
async def serving(
    path: Path, agent_of: Callable[[int], str | None], *more: Route
) -> AsyncIterator[Connections]:
    app = Starlette(routes=[Route("/", _hello, methods=["GET", "POST"]), *more])
    app.state.connections = Connections(agent_of, _no_ancestry)
    uvicorn_server: uvicorn.Server = server(app)
    task = asyncio.create_task(uvicorn_server._serve(sockets=[bind(path)]))
    while not uvicorn_server.started:
        await asyncio.sleep(0.01)
    try:
        yield app.state.connections
    finally:
        uvicorn_server.should_exit = True
        await task


async def test_one_too_many_is_told_why_by_every_client(own_home: Path) -> None:
    path = own_home / "s"

    async with serving(path, lambda _: "api") as many:
        held = [await asyncio.open_unix_connection(str(path)) for _ in range(MOST_OF_AGENT)]
        while len(many) < MOST_OF_AGENT:
            await asyncio.sleep(0.01)
        exchange = await Exchange.open(path, 5.0)
        with pytest.raises(NotNow, match="Too many connections"):
            await exchange.ask("GET", "/")
        await exchange.close()
        with pytest.raises(CockpitError, match="Too many connections"):
            await asyncio.to_thread(fetch, path, "/")
        for _, writer in held:
            writer.close()
        while len(many):
            await asyncio.sleep(0.01)
        assert await asyncio.to_thread(fetch, path, "/") == b"hello"
        while many.refused:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    "begin",
    [
        b"",
        b"GET / HTTP/1.1\r\n",
        b"POST / HTTP/1.1\r\nHost: c\r\nContent-Length: 9\r\n\r\nhalf",
        b"GET / HTTP/1.1\r\nHost: c\r\n\r\nGET / HTTP/1.1\r\n",
    ],
)
async def test_a_request_that_does_not_arrive_is_ended(
    own_home: Path, begin: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.2)
    monkeypatch.setattr(connections, "BODY_SECONDS", 0.2)

    async with serving(own_home / "s", lambda _: None) as many:
        reader, writer = await asyncio.open_unix_connection(str(own_home / "s"))
        writer.write(begin)
        answer = await reader.read()
        *_, last = answer.split(b"\r\n\r\n")
        assert b"408" in answer
        assert json.loads(last)["title"] == "The request was not received in time"
        writer.close()
        while len(many):
            await asyncio.sleep(0.01)


async def test_an_answer_may_take_longer_than_its_request(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.1)
    release = asyncio.Event()

    async def slow(_: Request) -> Response:
        await release.wait()
        return PlainTextResponse("late")

    async with serving(own_home / "s", lambda _: None, Route("/slow", slow)):
        reader, writer = await asyncio.open_unix_connection(str(own_home / "s"))
        writer.write(b"GET /slow HTTP/1.1\r\nHost: c\r\nConnection: close\r\n\r\n")
        other, its = await asyncio.open_unix_connection(str(own_home / "s"))
        assert b"408" in await other.read()  # by now the first one's time would be up too
        its.close()
        release.set()
        assert (await reader.read()).endswith(b"late")
        writer.close()
