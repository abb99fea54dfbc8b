"""The API of `cockpit serve`: who may ask, what is passed on, and how streams end."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import os
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import pytest
from yarl import URL

from cockpit.adapters.browser import api_responses, api_routes, gateway, server
from cockpit.adapters.browser.access import AccessCheck
from cockpit.adapters.browser.gateway import LARGEST_BODY, Gateway
from cockpit.adapters.browser.server import Browser
from cockpit.core.errors import NoSupervisor
from cockpit.core.problems import KINDS, PREFIX

STREAM = "text/event-stream; charset=utf-8"


@dataclass
class Said:
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "text/plain"})
    pieces: tuple[bytes, ...] = (b"said",)
    endless: bool = False
    breaks_off: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def blocks(self) -> AsyncIterator[bytes]:
        return self._blocks()

    async def _blocks(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece
        if self.breaks_off:
            raise NoSupervisor("Lost connection to the supervisor")
        if self.endless:
            await asyncio.Event().wait()


class Answering:
    """A supervisor that answers everything with one thing."""

    def __init__(self) -> None:
        self.say = Said()
        self.gone = False
        self.bug: Exception | None = None
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []

    @asynccontextmanager
    async def ask(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> AsyncIterator[Said]:
        if self.gone:
            raise NoSupervisor("No supervisor is running")
        if self.bug is not None:
            raise self.bug
        self.asked.append((method, target, dict(headers), body))
        try:
            yield self.say
        finally:
            self.say.ended.set()


class Script:
    """A program that asks, with the API's token unless told otherwise."""

    def __init__(
        self, server: Browser, address: str, session: aiohttp.ClientSession, behind: Answering
    ) -> None:
        self.server, self.address, self.session, self.behind = server, address, session, behind
        self.base = address.partition("/?")[0]

    @property
    def allowed(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.server.access.api_token}"}

    async def ask(
        self,
        path: str = "/v1/status",
        method: str = "GET",
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, Any]:
        """Status and body; the body of a refusal is checked and reduced to its kind.

        Empty headers are left out.
        """
        sent = self.allowed | dict(headers or {})
        sent = {name: text for name, text in sent.items() if text}
        at, data = URL(self.base + path, encoded=True), io.BytesIO(body) if body else None
        async with self.session.request(method, at, data=data, headers=sent) as got:
            if got.status < 400:
                return got.status, await got.text()
            assert got.content_type == "application/problem+json"
            assert got.headers["Cache-Control"] == "no-store"
            if got.status == 401:
                assert got.headers["WWW-Authenticate"].startswith("Bearer ")
            told = await got.json()
            assert told["status"] == got.status
            assert told["title"]
            kind = told["type"].removeprefix(PREFIX)
            assert kind in KINDS
            return got.status, kind

    async def connect(self, sent: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection on which this was sent."""
        at = URL(self.base)
        reader, writer = await asyncio.open_connection(at.host, at.port)
        writer.write(sent)
        return reader, writer

    async def raw(self, sent: bytes) -> tuple[int, str, Any]:
        """Status, kind and problem document of the answer to these bytes."""
        reader, writer = await self.connect(sent)
        top = await reader.readuntil(b"\r\n\r\n")
        assert b"application/problem+json" in top
        length = int(top.lower().partition(b"content-length: ")[2].split()[0])
        told = json.loads(await reader.readexactly(length))
        writer.close()
        return int(top.split()[1]), told["type"].removeprefix(PREFIX), told


def head(method: str, headers: Mapping[str, str]) -> bytes:
    lines = [f"{method} /v1/watch HTTP/1.1", "Host: localhost"]
    lines += [f"{name}: {text}" for name, text in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


@asynccontextmanager
async def serving(*, write: bool = False, bound: str = "127.0.0.1") -> AsyncIterator[Script]:
    behind = Answering()

    def made(access: AccessCheck) -> Gateway:
        return Gateway(access, behind, b'{"openapi": "3.1.0"}', write=write)

    browser = Browser(["true"], "cockpit", bound, 0, made)
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    running = asyncio.create_task(browser.run(address.set_result))
    jar = aiohttp.CookieJar(unsafe=True)
    try:
        async with aiohttp.ClientSession(cookie_jar=jar) as session, asyncio.timeout(120):
            yield Script(browser, await address, session, behind)
            os.kill(os.getpid(), signal.SIGTERM)
            await running
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_a_program_with_a_token_reads() -> None:
    async with serving() as script:
        assert await script.ask("/v1/facts/a%20b?since=job&x=%2F") == (200, "said")
        ((method, target, headers, body),) = script.behind.asked
        assert (method, target, body) == ("GET", "/v1/facts/a%20b?since=job&x=%2F", b"")
        assert headers["forwarded"] == 'for="127.0.0.1"'
        assert "authorization" not in headers
        token = script.server.access.token
        assert (await script.ask(headers={"Authorization": f"bearer {token}"}))[0] == 200
        assert await script.ask("/openapi.json") == (200, '{"openapi": "3.1.0"}')


@pytest.mark.parametrize("path", ["/v1/status", "/v1/nothing", "/openapi.json", "/v1/"])
async def test_nobody_reads_without_the_token(path: str) -> None:
    async with serving(write=True) as script:
        for wrong in ("", "Bearer", "Bearer guess", "Basic guess", "guess", "Bearer \xfc"):
            assert await script.ask(path, headers={"Authorization": wrong}) == (401, "not-let-in")
        key = script.server.access.key
        assert await script.ask(path, headers={"Authorization": f"Bearer {key}"}) == (
            401,
            "not-let-in",
        )
        query = f"{path}?token={script.server.access.api_token}"
        assert await script.ask(query, headers={"Authorization": ""}) == (401, "not-let-in")
        assert script.behind.asked == []


async def test_the_token_of_the_api_does_not_open_the_screen() -> None:
    async with serving() as script:
        token = script.server.access.api_token
        async with script.session.get(f"{script.base}/?token={token}") as answer:
            assert answer.status == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PROPFIND"])
async def test_a_change_needs_write(method: str) -> None:
    async with serving() as script:
        assert await script.ask("/v1/stop", method, b"{}") == (403, "read-only")
        assert script.behind.asked == []
    async with serving(write=True) as script:
        assert await script.ask("/v1/stop", method, b'{"name": "api"}') == (200, "said")
        assert script.behind.asked[0][0] == method
        assert script.behind.asked[0][3] == b'{"name": "api"}'


async def test_a_refused_page_or_host_is_told_what_to_do() -> None:
    async with serving() as script:
        for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
            url = f"{script.base}/v1/status"
            async with script.session.get(url, headers=script.allowed | headers) as answer:
                problem = await answer.json(content_type="application/problem+json")
            assert problem["detail"].endswith(".")
            assert problem["hint"].endswith(".")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "192.168.1.7", "[x"])
async def test_another_sites_name_for_this_machine_is_refused(host: str) -> None:
    async with serving(write=True) as script:
        assert await script.ask(headers={"Host": host}) == (403, "foreign-page")


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:1"},
     {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}],
    ids=str,
)  # fmt: skip
async def test_pages_of_others_may_not_ask_even_with_the_token(headers: dict[str, str]) -> None:
    async with serving(write=True) as script:
        for method in ("GET", "POST", "OPTIONS"):
            assert await script.ask(method=method, headers=headers) == (403, "foreign-page")
        assert script.behind.asked == []


async def test_the_browser_that_has_the_screen_may_read_and_not_change() -> None:
    async with serving(write=True) as script:
        async with script.session.get(script.address) as answer:
            assert answer.status == 200
        none = {"Authorization": ""}
        typed, own = {"Sec-Fetch-Site": "none"}, {"Sec-Fetch-Site": "same-origin"}
        assert (await script.ask(headers=none | typed))[0] == 200
        assert (await script.ask(headers=none | own))[0] == 200
        # An older browser tells neither its page nor that there is none.
        assert await script.ask(headers=none) == (401, "not-let-in")
        assert await script.ask(headers=none | {"Sec-Fetch-Site": "same-site"}) == (
            403,
            "foreign-page",
        )
        for headers in (typed, own, {"Origin": script.base}):
            refused = await script.ask("/v1/stop", "POST", b"{}", none | headers)
            assert refused == (401, "not-let-in")


async def test_failures_of_the_supervisor_come_through_and_its_absence_is_told() -> None:
    async with serving() as script:
        told = b'{"type": "urn:problem-type:cockpit:no-such-agent", "status": 404, "title": "x"}'
        headers = {"content-type": "application/problem+json", "allow": "GET", "x-inner": "1"}
        script.behind.say = Said(404, headers, (told,))
        assert await script.ask() == (404, "no-such-agent")
        script.behind.say = Said(405, {**headers, "content-length": "0"}, ())
        sent = script.session.head(f"{script.base}/v1/stop", headers=script.allowed)
        async with sent as answer:
            assert (answer.status, answer.headers["Allow"]) == (405, "GET")
            assert "X-Inner" not in answer.headers
        script.behind.gone = True
        assert await script.ask() == (503, "no-supervisor")


async def test_a_body_has_a_limit() -> None:
    async with serving(write=True) as script:
        assert (await script.ask("/v1/send", "POST", b"x" * LARGEST_BODY))[0] == 200
        refused = await script.ask("/v1/send", "POST", b"x" * (LARGEST_BODY + 1))
        assert refused == (400, "bad-usage")


async def test_there_are_not_endlessly_many_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway, "MOST_OPEN", 2)
    async with serving() as script:
        script.behind.say = Said(pieces=(b"begun\n",), endless=True)
        open_ = [
            await script.session.get(f"{script.base}/v1/watch", headers=script.allowed)
            for _ in range(2)
        ]
        assert await script.ask() == (503, "not-now")
        for one in open_:
            one.close()
    assert script.behind.say.ended.is_set()


async def test_a_stream_arrives_line_by_line_and_ends_with_its_client(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(api_responses, "LOOK", 0.05)
    async with serving() as script:
        script.behind.say = Said(pieces=(b"one\n", b"two\n"), endless=True)
        async with script.session.get(f"{script.base}/v1/watch", headers=script.allowed) as got:
            assert await got.content.readline() == b"one\n"
            assert await got.content.readline() == b"two\n"
            assert not script.behind.say.ended.is_set()
            got.close()
        await script.behind.say.ended.wait()


async def test_an_answer_that_breaks_off_does_not_look_complete() -> None:
    async with serving() as script:
        script.behind.say = Said(breaks_off=True)
        with pytest.raises(aiohttp.ClientError):
            await script.ask()
        script.behind.say = Said()
        assert (await script.ask())[0] == 200


async def test_a_websocket_gets_each_event_as_a_message() -> None:
    async with serving() as script:
        pieces = (b': \n\nid: 1\ndata: {"id"', b": 1}\n\n", b"data: two\n\n")
        script.behind.say = Said(headers={"content-type": STREAM}, pieces=pieces)
        at = f"{script.base}/v1/events?after=0"
        async with script.session.ws_connect(at, headers=script.allowed) as socket:
            assert json.loads(await socket.receive_str()) == {"id": 1}
            assert await socket.receive_str() == "two"
            assert (await socket.receive()).type is aiohttp.WSMsgType.CLOSE
        assert script.behind.asked[0][2]["accept"] == "text/event-stream"
        await script.behind.say.ended.wait()


async def test_a_websocket_ends_with_its_client_and_with_the_server() -> None:
    async with serving() as script:
        script.behind.say = Said(
            headers={"content-type": STREAM}, pieces=(b"data: 1\n\n",), endless=True
        )
        at = f"{script.base}/v1/watch"
        async with script.session.ws_connect(at, headers=script.allowed) as socket:
            await socket.receive_str()
        await script.behind.say.ended.wait()
        script.behind.say.ended.clear()
        left = await script.session.ws_connect(at, headers=script.allowed)
        await left.receive_str()
    assert script.behind.say.ended.is_set()


async def test_who_may_open_a_websocket() -> None:
    async with serving() as script:
        script.behind.say = Said(headers={"content-type": STREAM}, pieces=(b"data: 1\n\n",))
        at = f"{script.base}/v1/watch"
        for status, headers in (
            (401, {}),
            (401, {"Authorization": "Bearer guess"}),
            (403, script.allowed | {"Origin": "http://evil.example"}),
            (403, script.allowed | {"Host": "evil.example"}),
        ):
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await script.session.ws_connect(at, headers=headers)
            assert refused.value.status == status
        async with script.session.get(script.address):
            pass
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await script.session.ws_connect(at)
        async with script.session.ws_connect(at, headers={"Origin": script.base}) as socket:
            assert await socket.receive_str() == "1"


async def test_what_is_no_stream_has_no_websocket() -> None:
    async with serving() as script:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await script.session.ws_connect(f"{script.base}/v1/status", headers=script.allowed)
        assert refused.value.status == 400


@pytest.mark.parametrize(
    "wrong",
    [{"Connection": "close"}, {"Sec-WebSocket-Version": "99"}, {"Sec-WebSocket-Key": "short"},
     {"Sec-WebSocket-Key": "\xfc" * 24}],
    ids=str,
)  # fmt: skip
async def test_a_handshake_that_is_not_valid_is_refused_in_our_words(wrong: dict[str, str]) -> None:
    right = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    }
    async with serving() as script:
        assert (await script.raw(head("GET", script.allowed | right | wrong)))[:2] == (
            400,
            "bad-usage",
        )
        assert script.behind.asked == []


@pytest.mark.parametrize(
    "sent",
    [b"HELO there\r\n\r\n", b"GET /v1/status HTTP/x\r\n\r\n", b"\x16\x03\x01\x02\r\n\r\n",
     b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\nno colon\r\n\r\n",
     b"GET /v1/status HTTP/1.1\r\nX: " + b"x" * 20_000 + b"\r\n\r\n"],
    ids=["no request", "no version", "TLS", "no field", "long field"],
)  # fmt: skip
async def test_what_is_not_http_gets_a_problem_document_too(
    sent: bytes, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    async with serving() as script:
        status, kind, told = await script.raw(sent)
        assert (status, kind) == (400, "bad-usage")
        assert told["title"] == "Malformed HTTP request"
    # Nobody can fill the terminal of `cockpit serve`.
    assert (caplog.text, capfd.readouterr().err) == ("", "")


async def test_a_body_that_is_not_http_is_refused_in_our_words() -> None:
    async with serving(write=True) as script:
        chunked = head("POST", script.allowed | {"Transfer-Encoding": "chunked"})
        assert (await script.raw(chunked + b"no number\r\n\r\n"))[:2] == (400, "bad-usage")
        assert script.behind.asked == []


async def test_a_compressed_body_stays_as_small_as_it_came() -> None:
    async with serving(write=True) as script:
        packed = gzip.compress(b"x" * LARGEST_BODY * 2)
        assert (await script.ask("/v1/send", "POST", packed, {"Content-Encoding": "gzip"}))[
            0
        ] == 200
        assert script.behind.asked[0][3] == packed


async def test_a_body_is_asked_for_only_if_it_may_be_sent() -> None:
    waits = {"Expect": "100-continue", "Content-Length": "2"}
    async with serving() as script:
        assert (await script.raw(head("POST", script.allowed | waits)))[:2] == (403, "read-only")
    async with serving(write=True) as script:
        reader, writer = await script.connect(head("POST", script.allowed | waits))
        assert await reader.readline() == b"HTTP/1.1 100 Continue\r\n"
        writer.write(b"{}")
        assert await reader.readline() == b"\r\n"
        assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"
        writer.close()
        odd = {"Expect": "miracles", "Content-Length": "0", "Connection": "close"}
        reader, writer = await script.connect(head("POST", script.allowed | odd))
        assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"
        writer.close()


async def test_a_body_must_arrive_in_time_and_counts_while_it_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gateway, "MOST_OPEN", 1)
    async with serving(write=True) as script:
        slow = head("POST", script.allowed | {"Content-Length": "9"}) + b"{"
        _, writer = await script.connect(slow)
        while (await script.ask()) == (200, "said"):  # the slow one has not arrived yet
            pass
        assert await script.ask() == (503, "not-now")
        writer.close()
        while (await script.ask()) != (200, "said"):  # it has gone
            pass
        monkeypatch.setattr(api_routes, "BODY_SECONDS", 0.1)
        assert (await script.raw(slow))[:2] == (408, "not-now")
        assert await script.ask() == (200, "said")


async def test_a_client_that_never_ends_its_head_is_disconnected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.1)
    async with serving() as script:
        reader, writer = await script.connect(b"GET /v1/status HTTP/1.1\r\nHost: lo")
        assert await reader.read() == b""
        writer.close()


async def test_a_client_that_takes_nothing_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_responses, "STALLED", 0.1)
    async with serving() as script:
        script.behind.say = Said(pieces=(b"x" * 65536,) * 1000, endless=True)
        _, writer = await script.connect(head("GET", script.allowed))
        await script.behind.say.ended.wait()
        writer.close()


async def test_an_error_of_cockpit_is_a_problem_document_and_not_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with serving() as script:
        script.behind.bug = ZeroDivisionError("secret")
        async with script.session.get(f"{script.base}/v1/x", headers=script.allowed) as answer:
            assert (answer.status, answer.content_type) == (500, "application/problem+json")
            assert "secret" not in await answer.text()
        assert "secret" in caplog.text


async def test_without_an_api_there_is_none() -> None:
    browser = Browser(["true"], "cockpit", "127.0.0.1", 0)
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    running = asyncio.create_task(browser.run(address.set_result))
    try:
        base = (await address).partition("/?")[0]
        async with aiohttp.ClientSession() as session:
            headers = {"Authorization": f"Bearer {browser.access.api_token}"}
            async with session.get(f"{base}/v1/status", headers=headers) as answer:
                assert answer.status == 403
    finally:
        os.kill(os.getpid(), signal.SIGTERM)
        await running
