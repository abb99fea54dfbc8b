"""A program in a browser: who is let in, what goes to and fro, and that nothing is left of it."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest

from cockpit.adapters.browser.server import TABS, Browser
from cockpit.core.errors import Failed

TAB = (
    "import os, sys\nfrom cockpit.adapters.browser.tab import run\n"
    "size = int(os.environ['COLUMNS']), int(os.environ['LINES'])\n"
    "sys.exit(run(sys.argv[1:], {**os.environ, 'TERM': 'xterm'}, size))"
)
CAT = ["sh", "-c", "stty size; exec cat"]


class Visit:
    """A browser's side: its cookies, and where the server is."""

    def __init__(self, server: Browser, address: str, session: aiohttp.ClientSession) -> None:
        self.server, self.address, self.session = server, address, session
        self.base = address.partition("/?")[0]
        self.others = children()

    async def get(self, path: str, **headers: str) -> tuple[int, str]:
        async with self.session.get(
            self.base + path, headers=headers, allow_redirects=False
        ) as answer:
            return answer.status, await answer.text()

    async def come_in(self) -> None:
        async with self.session.get(self.address) as answer:
            assert answer.status == 200

    def socket(self, origin: str | None = None, size: str = "") -> Any:
        headers = {"Origin": self.base if origin is None else origin}
        return self.session.ws_connect(f"{self.base}/ws{size}", headers=headers)

    def tabs(self) -> int:
        return len(children() - self.others)


def children() -> set[int]:
    """Processes of this thread; what was there before is somebody else's."""
    return {int(pid) for pid in Path("/proc/thread-self/children").read_text().split()}


async def until(true: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        await asyncio.sleep(0.02)


@asynccontextmanager
async def served(*argv: str) -> AsyncIterator[Visit]:
    others = children()
    server = Browser([sys.executable, "-c", TAB, *argv], "<cockpit>", "127.0.0.1", 0)
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    running = asyncio.create_task(server.run(address.set_result))
    jar = aiohttp.CookieJar(unsafe=True)  # it is one that keeps cookies of plain addresses
    try:
        async with aiohttp.ClientSession(cookie_jar=jar) as session:
            first: set[asyncio.Future[Any]] = {address, running}
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
            yield Visit(server, address.result(), session)
            os.kill(os.getpid(), signal.SIGTERM)
            async with asyncio.timeout(120):
                await running
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert children() <= others


async def test_nobody_comes_in_without_the_token() -> None:
    async with served(*CAT) as visit:
        for path in ("/", "/?token=", "/?token=guess", "/static/js/textual.js", "/ws", "/none"):
            status, said = await visit.get(path)
            assert (status, "token" in said) == (403, True), path
        status, said = await visit.get("/", Cookie=f"cockpit-{visit.server.port}=guess")
        assert status == 403
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await visit.socket()
        assert visit.tabs() == 0


async def test_the_token_is_used_once_and_a_cookie_kept_that_no_script_can_read() -> None:
    async with served(*CAT) as visit:
        async with visit.session.get(visit.address, allow_redirects=False) as answer:
            cookie = answer.headers["Set-Cookie"]
            assert (answer.status, answer.headers["Location"]) == (303, "/")
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert visit.server.access.token not in cookie
        status, page = await visit.get("/")
        assert status == 200
        assert "&lt;cockpit&gt;" in page
        assert visit.server.access.token not in page
        assert "//fonts." not in page
        assert (await visit.get("/static/js/textual.js"))[0] == 200
        assert (await visit.get("/static/../server.py"))[0] == 404


async def test_a_page_of_others_has_no_way_in_even_with_the_cookie() -> None:
    async with served(*CAT) as visit:
        await visit.come_in()
        assert (await visit.get("/", Host="evil.example"))[0] == 403
        path = urlsplit(visit.address)
        assert (await visit.get(f"/?{path.query}", Host="evil.example:80"))[0] == 403
        for origin in ("http://evil.example", "http://127.0.0.1:1", "null", ""):
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await visit.socket(origin)
        assert visit.tabs() == 0


async def test_every_answer_asks_nobody_else_for_anything() -> None:
    async with served(*CAT) as visit:
        await visit.come_in()
        for path in ("/", "/static/css/xterm.css", "/?token=x"):
            async with visit.session.get(visit.base + path) as answer:
                policy = answer.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy
            assert "frame-ancestors 'none'" in policy


async def test_keys_go_in_and_the_screen_comes_out() -> None:
    async with served(*CAT) as visit:
        await visit.come_in()
        async with visit.socket(size="?width=91&height=17") as tab:
            await heard(tab, b"17 91")
            await tab.send_json(["stdin", "hello\r"])
            await heard(tab, b"hello\r\nhello")
            await tab.send_json(["ping", "1"])
            await tab.send_json(["focus"])
            await tab.send_json(["blur"])
        await until(lambda: visit.tabs() == 0)


@pytest.mark.parametrize(
    "nonsense", ["no json", "{}", "[]", '["stdin"]', '["stdin", 7]', '["resize", 1]']
)
async def test_a_browser_that_talks_nonsense_is_let_go_of(nonsense: str) -> None:
    async with served(*CAT) as visit:
        await visit.come_in()
        async with visit.socket() as tab:
            await heard(tab, b"24 80")
            await tab.send_str(nonsense)
            while (await tab.receive()).type is aiohttp.WSMsgType.BINARY:
                pass
            assert tab.closed
        await until(lambda: visit.tabs() == 0)


async def test_a_program_that_ends_closes_its_tab() -> None:
    async with served("sh", "-c", "echo farewell") as visit:
        await visit.come_in()
        async with visit.socket() as tab:
            await heard(tab, b"farewell")
            assert (await tab.receive()).type in CLOSING
        await until(lambda: visit.tabs() == 0)


async def test_each_tab_has_a_process_and_there_are_not_endlessly_many() -> None:
    async with served("sleep", "1000") as visit:
        await visit.come_in()
        tabs = [await visit.socket() for _ in range(TABS)]
        await until(lambda: visit.tabs() == TABS)
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await visit.socket()
        await tabs.pop().close()
        await until(lambda: visit.tabs() == TABS - 1)
        tabs.append(await visit.socket())
        # The server's own end takes the rest away: `served` looks.


async def test_a_program_that_will_not_end_is_ended() -> None:
    script = "trap '' HUP TERM; echo here; while :; do sleep 0.1; done"
    async with served("sh", "-c", script) as visit:
        await visit.come_in()
        async with visit.socket() as tab:
            await heard(tab, b"here")
        await until(lambda: visit.tabs() == 0)


async def test_a_port_that_is_taken_is_told_of() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        browser = Browser(["true"], "x", "127.0.0.1", taken.getsockname()[1])
        with pytest.raises(Failed, match="is not available") as caught:
            await browser.run(print)
    assert "--port 0" in caught.value.hint


CLOSING = {aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSING, aiohttp.WSMsgType.CLOSED}


async def heard(tab: aiohttp.ClientWebSocketResponse, words: bytes) -> None:
    """Wait until all of that came."""
    text = b""
    async with asyncio.timeout(120):
        while words not in text:
            message = await tab.receive()
            assert message.type not in CLOSING, text
            if message.type is aiohttp.WSMsgType.BINARY:
                text += message.data
