"""Serve a program to browsers with textual-serve: one process per tab, access with a token only.

textual-serve provides the terminal in the page, and the protocol. This module adds the access check
and cockpit's page, and ends all processes when the server ends; it uses no shell. The caller
chooses the program, which must use the protocol of `tab.py`.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from aiohttp import WSCloseCode, web
from textual_serve.server import Server

from cockpit.adapters.browser.access import AccessCheck
from cockpit.adapters.browser.api_problems import Connection
from cockpit.adapters.browser.api_routes import ApiRoutes
from cockpit.adapters.browser.gateway import Gateway
from cockpit.adapters.browser.page import KEYS, NOT_LET_IN, headers, page
from cockpit.adapters.browser.tab_process import PATIENCE, Tab
from cockpit.core.errors import Failed

TABS = 16
"""Maximum number of open tabs."""
FONT_SIZE = 16
HEAD_SECONDS = 30.0
"""Maximum seconds to wait for the headers of a request, and for the next request on the same
connection."""

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Browser(Server):
    """A web server that runs one process of a program for each browser tab."""

    def __init__(
        self,
        argv: Sequence[str],
        title: str,
        bound: str,
        port: int,
        api: Callable[[AccessCheck], Gateway] | None = None,
    ) -> None:
        """`bound` and `port`: the address to listen on; port 0 means any free port. `api` creates
        the gateway of the API; None for no API.
        """
        super().__init__("", host=bound, port=port, title=title, public_url="")
        self._argv = tuple(argv)
        self._bound = bound
        self.access = AccessCheck(bound)
        self._api = ApiRoutes(api(self.access), lambda: self._cookie) if api is not None else None
        self._open: dict[Tab, web.WebSocketResponse] = {}

    async def run(self, on_address: Callable[[str], None]) -> None:
        """Serve until SIGINT or SIGTERM. Calls `on_address` with the URL as soon as the server
        accepts connections.

        Raises `Failed` if the port or the address is not available.
        """
        over = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, over.set)
        runner = web.AppRunner(await self._make_app(), shutdown_timeout=PATIENCE)
        await runner.setup()
        try:
            listening = await self._listen(runner)
            try:
                on_address(self._address())
                await over.wait()
            finally:
                listening.close()
        finally:
            await runner.cleanup()

    async def _listen(self, runner: web.AppRunner) -> asyncio.Server:
        loop, manager = asyncio.get_running_loop(), runner.server
        assert manager is not None
        # No access log, because the screen's URL contains the token.
        options: dict[str, Any] = {"access_log": None, "keepalive_timeout": HEAD_SECONDS}
        # Not decompressed: a small body must not become a large body here.
        connection = partial(Connection, manager, loop=loop, auto_decompress=False, **options)
        try:
            listening = await loop.create_server(connection, self._bound, self.port, backlog=128)
        except OSError as error:
            raise Failed(
                f"Port {self.port} at {self._bound} is not available",
                error.strerror or str(error),
                "Use any free port: cockpit serve --port 0. With --bind, use an address of this"
                " machine.",
            ) from error
        self.port = listening.sockets[0].getsockname()[1]
        return listening

    def _address(self) -> str:
        name = f"[{self._bound}]" if ":" in self._bound else self._bound
        return f"http://{name}:{self.port}/?token={self.access.token}"

    async def _make_app(self) -> web.Application:
        app = web.Application(middlewares=[self._guard])
        if self._api is not None:
            self._api.add_to(app)
        app.add_routes(
            [
                web.get("/", self._index),
                web.get("/keys.js", self._keys),
                web.get("/ws", self.handle_websocket),
                web.static("/static", self.statics_path),
            ]
        )
        app.on_shutdown.append(self.on_shutdown)
        return app

    @property
    def _cookie(self) -> str:
        """The name of the cookie. Contains the port, because browsers share cookies between
        ports."""
        return f"cockpit-{self.port}"

    @web.middleware
    async def _guard(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        """Respond with 403 to requests without token or cookie, or with an unknown `Host`.

        A request with the token gets the cookie and a redirect. API requests are checked by the
        gateway instead.
        """
        if self._api is not None and request.match_info.handler == self._api.ask:
            return await handler(request)
        if not self.access.is_known_host(request.host):
            return web.Response(status=403, text="Unknown Host header.\n")
        if request.path == "/" and self.access.is_token(request.query.get("token", "")):
            return self._set_cookie(request)
        if not self.access.is_session_cookie(request.cookies.get(self._cookie, "")):
            return web.Response(status=403, text=NOT_LET_IN, headers=headers(request.host))
        answer = await handler(request)
        if not answer.prepared:
            answer.headers.update(headers(request.host))
        return answer

    def _set_cookie(self, request: web.Request) -> web.Response:
        answer = web.Response(
            status=303,
            headers={**headers(request.host), "Location": "/", "Cache-Control": "no-store"},
        )
        answer.set_cookie(self._cookie, self.access.key, httponly=True, samesite="Strict", path="/")
        return answer

    async def _index(self, request: web.Request) -> web.Response:
        text = page(self.title, request.host, FONT_SIZE)
        return web.Response(
            text=text, content_type="text/html", headers={"Cache-Control": "no-store"}
        )

    async def _keys(self, _request: web.Request) -> web.Response:
        return web.Response(text=KEYS, content_type="text/javascript")

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Serve one tab, until it is closed or its program ends."""
        if not self.access.is_ours(request.headers.get("Origin", ""), request.host):
            raise web.HTTPForbidden(text="Only cockpit's own page may connect.\n")
        if len(self._open) >= TABS:
            raise web.HTTPServiceUnavailable(text=f"Too many tabs: the limit is {TABS}.\n")
        socket = web.WebSocketResponse(heartbeat=30)
        tab = self._tab(socket)
        self._open[tab] = socket
        try:
            await socket.prepare(request)
            await self._show(tab, socket, request)
        finally:
            self._open.pop(tab, None)
            await tab.end()
            await socket.close()
        return socket

    async def on_shutdown(self, app: web.Application) -> None:
        for tab, socket in list(self._open.items()):
            await socket.close(code=WSCloseCode.GOING_AWAY, message=b"cockpit serve has ended")
            await tab.end()
        if self._api is not None:
            self._api.end()

    async def _show(self, tab: Tab, socket: web.WebSocketResponse, request: web.Request) -> None:
        await tab.start(_cells(request, "width", 80), _cells(request, "height", 24))
        listening = asyncio.create_task(self._listen_to(socket, tab))
        ended = asyncio.create_task(tab.ended())
        try:
            await asyncio.wait([listening, ended], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (listening, ended):
                task.cancel()
            await asyncio.gather(listening, ended, return_exceptions=True)

    async def _listen_to(self, socket: web.WebSocketResponse, tab: Tab) -> None:
        # Close the connection of a browser that sends invalid messages.
        with suppress(ValueError, TypeError, KeyError, IndexError, AssertionError, AttributeError):
            await self._process_messages(socket, tab)

    def _tab(self, socket: web.WebSocketResponse) -> Tab:
        async def close() -> None:
            await socket.close()

        tab = Tab(
            "",
            write_bytes=socket.send_bytes,
            write_str=socket.send_str,
            close=close,
            download_manager=self.download_manager,
        )
        tab.argv = self._argv
        return tab


def _cells(request: web.Request, name: str, usual: int) -> int:
    text = request.query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else usual
