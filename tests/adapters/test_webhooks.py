"""Posting to addresses that misbehave, over real sockets on loopback."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
from collections.abc import Awaitable, Callable

import pytest

from cockpit.adapters.outgoing.webhooks import post
from cockpit.core.deliveries import Answer
from cockpit.core.public_addresses import is_public

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Receiver:
    """A server that keeps what it was sent and answers as told."""

    def __init__(self, reply: bytes, *, pace: float = 0.0) -> None:
        self.reply = reply
        self.pace = pace
        self.got: list[bytes] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length:")
        )
        self.got.append(head + await reader.readexactly(length))
        try:
            if self.pace:
                for at in range(len(self.reply)):
                    writer.write(self.reply[at : at + 1])
                    await writer.drain()
                    await asyncio.sleep(self.pace)
            else:
                writer.write(self.reply)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()


async def send(handler: Handler, path: str = "/hook", **more: object) -> tuple[Answer, int]:
    """Post `{}` to a handler on loopback; the answer, and the port it was at."""
    server = await asyncio.start_server(handler, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        options = {"allow_private": True, **more}
        url = f"http://receiver.test:{port}{path}"
        answer = await post(
            url,
            b"{}",
            {"X-Test": "1"},
            **{"resolver": loopback, **options},  # type: ignore[arg-type]
        )
        server.close()
    return answer, port


async def loopback(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]


async def test_it_posts_to_the_checked_address_under_the_written_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    asked: list[str] = []

    async def changing(host: str, port: int) -> list[str]:
        """Good at the check; whoever asked again would be sent to the metadata service."""
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["169.254.169.254"]

    receiver = Receiver(b"HTTP/1.1 204 No Content\r\n\r\n")
    answer, port = await send(receiver, resolver=changing)
    assert answer == Answer(status=204)
    assert asked == ["receiver.test"]
    (got,) = receiver.got
    assert f"Host: receiver.test:{port}\r\n".encode() in got
    assert b"x-test: 1\r\n" in got.lower()
    assert got.endswith(b"\r\n\r\n{}")


@pytest.mark.parametrize(
    ("reply", "status", "retry_after"),
    [
        (b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", 500, None),
        (b"HTTP/1.1 429 Later\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n", 429, 7.0),
        (b"HTTP/1.1 429 Later\r\nRetry-After: soon\r\nContent-Length: 0\r\n\r\n", 429, None),
        (b"HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n", 410, None),
    ],
)
async def test_refusals_come_with_their_status(
    reply: bytes, status: int, retry_after: float | None
) -> None:
    answer, _ = await send(Receiver(reply))
    assert (answer.status, answer.retry_after) == (status, retry_after)
    assert answer.problem == f"HTTP status {status}"


async def test_a_redirect_is_not_followed() -> None:
    receiver = Receiver(
        b"HTTP/1.1 301 Moved\r\nLocation: http://169.254.169.254/latest/meta-data/\r\n"
        b"Content-Length: 0\r\n\r\n"
    )
    answer, _ = await send(receiver)
    assert answer.status == 301
    assert len(receiver.got) == 1


async def test_of_a_gigabyte_only_the_head_is_read() -> None:
    sent = 0

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await reader.readuntil(b"{}")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
        try:
            while sent < 1_000_000_000:
                writer.write(b"x" * 65_536)
                sent += 65_536
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    answer, _ = await send(endless)
    assert answer.status == 200
    assert sent < 50_000_000


async def test_mute_and_slow_receivers_cost_the_limit() -> None:
    slow = Receiver(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", pace=0.1)
    answer, _ = await send(slow, total=0.4)
    assert answer == Answer(problem="no response in time")

    async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.read()
        finally:
            writer.close()

    assert (await send(mute, total=0.4))[0] == Answer(problem="no response in time")


async def test_tls_asks_for_the_written_name_and_a_bad_one_is_refused() -> None:
    hello: list[bytes] = []

    async def no_tls(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        hello.append(await reader.read(2048))
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(no_tls, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        url = f"https://receiver.test:{port}/"
        answer = await post(url, b"{}", {}, allow_private=True, resolver=loopback)
    assert answer.status is None
    assert answer.problem.startswith("the connection failed")
    assert b"receiver.test" in hello[0]


async def test_nobody_there_and_nonsense() -> None:
    async def go(url: str, **more: object) -> Answer:
        return await post(url, b"{}", {}, allow_private=True, **more)  # type: ignore[arg-type]

    async def unknown(host: str, port: int) -> list[str]:
        import socket

        raise socket.gaierror

    refused = await go("http://127.0.0.1:1/x")
    assert refused.problem.startswith("the connection failed")
    assert not refused.permanent
    assert (await go("https://x.test/", resolver=unknown)).problem == "cannot resolve the host name"
    for bad in ("ftp://127.0.0.1/", "http://127.0.0.1:x/", "nonsense", ""):
        assert (await go(bad)).permanent


async def test_what_is_not_public_is_refused_before_a_connection_is_made() -> None:
    receiver = Receiver(b"HTTP/1.1 200 OK\r\n\r\n")
    answer, _ = await send(receiver, allow_private=False)
    assert answer.permanent
    assert "private" in answer.problem
    assert receiver.got == []

    async def mixed(host: str, port: int) -> list[str]:
        return ["93.184.216.34", "169.254.169.254"]

    answer = await post("https://x.test/", b"{}", {}, resolver=mixed)
    assert answer.permanent

    async def public(host: str, port: int) -> list[str]:
        return ["93.184.216.34"]

    answer = await post("http://x.test/", b"{}", {}, resolver=public, allow_private=True)
    assert answer == Answer(problem="the URL is not https", permanent=True)


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254", "100.64.0.1",
     "0.0.0.0", "224.0.0.1", "::1", "::", "fe80::1", "fd00::1", "::ffff:127.0.0.1",
     "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2001:0:53aa:64c:0:5efe:80ff:fffe"],
)  # fmt: skip
def test_private_in_any_disguise(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:4700::1111", "64:ff9b::5db8:d822"])
def test_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


async def test_no_log_line_has_the_address(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        await send(Receiver(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), path="/T0KEN")
    assert "T0KEN" not in caplog.text
