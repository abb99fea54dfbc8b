"""Whatever is sent to the socket by mistake is answered 4xx, and logs no traceback.

From seeds: the same requests each time. Every route and every verb gets its share.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_from_bytes

import pytest

from cockpit.core.events import Plain
from cockpit.wire.verbs import VERBS, Verb

if TYPE_CHECKING:
    from pathlib import Path

    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux

REQUESTS = 2000
LOOKS = (
    "status", "events", "history", "document/{}", "continuation/{}", "facts/{}", "worktrees",
    "course/{}", "diff/{}", "screen/{}",
)  # fmt: skip
QUERIES = ("name", "search", "directory", "since", "after", "limit", "history", "cursor")
ODD_BYTES = (
    b"", b"\0", b"\xff\xfe", b"../../etc", b"a" * 5000, b"\r\nX: y", b"%s%n", b"\xed\xa0\x80",
    "\N{RIGHT-TO-LEFT OVERRIDE}".encode(), b"x/y", b"*", b"'\"; drop table", b"-1", b"9" * 40,
    b"/" + b"b" * 300, b"\x1b]0;x\x07", b"~", b"NaN",
)  # fmt: skip
ODD_VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 10**30, 1e308, "", "\0", "a\0b", "\ud800", "x" * 5000, "/" + "b" * 300,
    "/dev/null", "/proc/self/mem", "../..", "\x1b[2J", "\N{RIGHT-TO-LEFT OVERRIDE}", [], [[]], {},
    {"a": 1}, ["\0"], {"\0": "\0"}, {"\ud800": 1}, "NaN", "--help",
)  # fmt: skip


def body(chance: random.Random, kind: type[Verb]) -> bytes:
    """Something that is not a request of this kind, or nearly one."""
    how = chance.randrange(8)
    if how == 0:
        return chance.choice(ODD_BYTES) or b"["
    if how == 1:
        return b"[" * chance.choice((10, 100_000))
    if how == 2:
        return json.dumps(chance.choice(ODD_VALUES[1:])).encode()
    if how == 3:
        return b'{"name": ' + b"9" * 6000 + b"}"
    asked = {
        field: chance.choice(ODD_VALUES) for field in kind.model_fields if chance.random() < 0.7
    }
    asked[chance.choice(("name", "x", "directory", "document"))] = chance.choice(ODD_VALUES)
    asked["config"] = chance.choice((0, [], "\0", "/dev/null"))  # none is a file to load
    raw = json.dumps(asked).encode()
    return raw[: chance.randrange(len(raw))] if how == 4 else raw


def request(chance: random.Random) -> bytes:
    """One malformed request, of a route chosen by chance."""
    part = quote_from_bytes(chance.choice(ODD_BYTES), safe="/")
    if chance.random() < 0.6:
        kind = chance.choice([verb for verb in VERBS if verb.verb != "down"])
        sent = body(chance, kind)
        head = f"POST /v1/{kind.verb}"
    else:
        sent = b""
        path = chance.choice(LOOKS).format(part)
        pairs = [
            f"{chance.choice(QUERIES)}={quote_from_bytes(chance.choice(ODD_BYTES))}"
            for _ in range(chance.randrange(3))
        ]
        verb = chance.choice(("GET", "GET", "GET", "POST", "PUT", "DELETE", "BREW"))
        head = f"{verb} /v1/{path}{'?' if pairs else ''}{'&'.join(pairs)}"
    if chance.random() < 0.05:
        head = f"GET /v1/{part}"
    length = f"Content-Length: {len(sent)}\r\n" if sent else ""
    return f"{head} HTTP/1.1\r\nHost: x\r\n{length}Connection: close\r\n\r\n".encode() + sent


async def answer(socket: Path, sent: bytes) -> int:
    """The status of the answer."""
    reader, writer = await asyncio.open_unix_connection(str(socket))
    try:
        writer.write(sent)
        await writer.drain()
        async with asyncio.timeout(120):
            return int((await reader.readline()).split()[1])
    finally:
        writer.close()


async def test_malformed_requests_are_the_askers_fault(
    cockpit: Cockpit, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        chance = random.Random(10)
        wrong: Counter[str] = Counter()
        async with cockpit.flying(cockpit.agent()):
            for _ in range(REQUESTS):
                sent = request(chance)
                if (status := await answer(cockpit.places.socket, sent)) >= 500:
                    wrong[f"{status} {sent[:300]!r}"] += 1
        assert not wrong, "\n".join(wrong)
    assert "Traceback" not in caplog.text


async def test_a_client_that_goes_away_is_not_logged(
    cockpit: Cockpit, caplog: pytest.LogCaptureFixture
) -> None:
    """In the middle of a request, of a long answer, and of a stream."""
    with caplog.at_level(logging.INFO):
        async with cockpit.flying(cockpit.agent()) as supervisor:
            for sent in (
                b"POST /v1/start HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
                b"POST /v1/start HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{",
                b"GET /v1/watch HTTP/1.1\r\nHost: x\r\n\r\n",
                b"GET /v1/events?follow=1 HTTP/1.1\r\nHost: x\r\n\r\n",
                b"GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n",
            ):
                reader, writer = await asyncio.open_unix_connection(str(cockpit.places.socket))
                writer.write(sent)
                await writer.drain()
                if b"watch" in sent or b"follow" in sent:
                    await reader.readline()
                writer.transport.abort()
            await cockpit.client.status()
            supervisor.event_log.record(Plain("agent.found"), "somebody listens")
            await cockpit.client.status()
    told = [record for record in caplog.records if record.exc_info or "Traceback" in record.message]
    assert told == []
