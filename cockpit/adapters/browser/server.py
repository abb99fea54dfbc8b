"""Serve a program to browsers with textual-serve: one process per tab, access with a token only.

textual-serve provides the terminal in the page, and the protocol. This module adds the access check
and cockpit's page, and ends all processes when the server ends; it uses no shell. The caller
chooses the program, which must use the protocol of `tab.py`. This module also receives API requests
and sends the responses; `gateway.py` checks the requests. Every error of the API is a problem
document, even for data that is not HTTP.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from aiohttp import HttpVersion11, WSCloseCode, web
from textual_serve.app_service import AppService
from textual_serve.server import Server

from cockpit.adapters.browser.access import AccessCheck
from cockpit.adapters.browser.gateway import (
    LARGEST_BODY,
    PREFIX,
    READING,
    Answer,
    Asked,
    Denied,
    Gateway,
    is_stream,
    messages,
)
from cockpit.adapters.browser.page import API_HEADERS, KEYS, NOT_LET_IN, headers, page
from cockpit.core.errors import BadUsage, CockpitError, Failed, NotNow
from cockpit.core.problems import MEDIA_TYPE, problem

TABS = 16
"""Maximum number of open tabs."""
PATIENCE = 3.0
"""Seconds within which a tab's process must exit by itself; then it is killed."""
FONT_SIZE = 16
HEAD_SECONDS = 30.0
"""Seconds for the headers of a request, and for the next request on the same connection."""

DESCRIPTION = "/openapi.json"
BODY_SECONDS = 60.0
"""Seconds for the body of a request; the supervisor has the same limit."""
STALLED = 60.0
"""Seconds after which a client that does not read its response is disconnected."""
LOOK = 5.0
"""Seconds between checks that the client of a silent stream is still connected."""
LONGEST_MESSAGE = 4096
"""Maximum bytes of a client's WebSocket message; messages are ignored."""

_log = logging.getLogger(__name__)
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Tab(AppService):
    """The process of one tab."""

    argv: Sequence[str] = ()

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        # In a new session, so that Ctrl-C in the server's terminal affects the server only.
        self._process = await asyncio.create_subprocess_exec(
            *self.argv,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env={**os.environ, "COLUMNS": str(width), "LINES": str(height)},
            start_new_session=True,
        )
        self._stdin = self._process.stdin
        return self._process

    async def ended(self) -> None:
        """Wait until the process closes its output."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def end(self) -> None:
        """End the process and wait for its end. Idempotent."""
        process = self._process
        if process is None:
            return
        try:
            async with asyncio.timeout(PATIENCE):
                await self.stop()
                await process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


class Browser(Server):
    """Serves one program to browsers."""

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

        Raises `Failed` if the port is not available.
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
                "Use any free port: cockpit serve --port 0",
            ) from error
        self.port = listening.sockets[0].getsockname()[1]
        return listening

    def _address(self) -> str:
        name = f"[{self._bound}]" if ":" in self._bound else self._bound
        return f"http://{name}:{self.port}/?token={self.access.token}"

    async def _make_app(self) -> web.Application:
        app = web.Application(middlewares=[self._guard])
        if self._api is not None:
            for path in (f"{PREFIX}{{tail:(?s:.*)}}", DESCRIPTION):
                app.router.add_route("*", path, self._api.ask, expect_handler=self._api.expect)
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
        """Respond with 403 to requests without token or cookie.

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
    asked = request.query.get(name, "")
    return int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 5 else usual


# The API


class ApiRoutes:
    """Receives API requests, and sends the gateway's responses."""

    def __init__(self, gateway: Gateway, cookie: Callable[[], str]) -> None:
        """`cookie`: returns the name of the screen's cookie."""
        self._gateway = gateway
        self._cookie = cookie
        self._asking: set[asyncio.Task[object]] = set()

    async def ask(self, request: web.Request) -> web.StreamResponse:
        """Respond to one request."""
        task = asyncio.current_task()
        assert task is not None
        self._asking.add(task)
        try:
            return await self._answer(request, _asked(request, self._cookie()))
        except Denied as denied:
            return _problem(denied, status=denied.status, kind=denied.kind)
        except _Late as late:
            return _problem(late, status=408)
        except CockpitError as error:
            return _problem(error)
        except ConnectionError:
            return web.Response(status=400)  # the client has disconnected
        finally:
            self._asking.discard(task)

    async def expect(self, request: web.Request) -> web.StreamResponse | None:
        """Handle `Expect: 100-continue`: ask for the body, unless the request is refused."""
        try:
            self._gateway.check(_asked(request, self._cookie()))
        except Denied as denied:
            return _problem(denied, status=denied.status, kind=denied.kind)
        waits = request.headers["Expect"].lower() == "100-continue"
        if waits and request.version == HttpVersion11:
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            request.writer.output_size = 0  # the response has not begun
        return None

    def end(self) -> None:
        """Abort all responses."""
        for task in self._asking:
            task.cancel()

    async def _answer(self, request: web.Request, asked: Asked) -> web.StreamResponse:
        self._gateway.check(asked)
        if request.path == DESCRIPTION and asked.method in READING:
            return web.Response(
                body=self._gateway.description, content_type="application/json", headers=API_HEADERS
            )
        if asked.upgrades:
            _check_handshake(request)
        async with self._gateway.answer(asked, partial(_body, request)) as answer:
            if asked.upgrades and is_stream(answer):
                return await _send_messages(request, answer)
            return await _forward_response(request, answer)


class Connection(web.RequestHandler):
    """A connection. Errors outside a handler get a problem document too."""

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        if status != 400:
            _log.error("cockpit serve failed to answer", exc_info=exc)
        if request.writer.output_size > 0:
            raise ConnectionError("The response has already begun")
        answer = _problem(
            BadUsage(
                "Malformed HTTP request",
                "It is not HTTP/1.1, or a header line is too long.",
                hint="Send an HTTP/1.1 request; /openapi.json describes each request.",
            )
            if status == 400
            else Failed(
                "cockpit serve failed to answer",
                "The error is in its terminal.",
                hint="Try again. If it fails again, please report it with that output.",
            )
        )
        answer.force_close()
        return answer


class _Late(NotNow):
    """The body was not received in time."""


def _asked(request: web.Request, cookie: str) -> Asked:
    named: dict[str, str] = {}
    for name, text in request.headers.items():
        named.setdefault(name.lower(), text)
    return Asked(
        method=request.method,
        path=request.rel_url.raw_path,
        query=request.rel_url.raw_query_string,
        headers=named,
        cookie=request.cookies.get(cookie, ""),
        address=request.remote or "",
        upgrades=named.get("upgrade", "").lower() == "websocket",
    )


async def _body(request: web.Request) -> bytes:
    """Return the body. Raises `BadUsage` for a body that is too long, and `_Late`."""
    held = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for block in request.content.iter_any():
                held += block
                if len(held) > LARGEST_BODY:
                    limit = f"The limit is {LARGEST_BODY // 1024} KiB."
                    raise BadUsage(
                        "The request is too long",
                        limit,
                        hint="Put a long text into a file that the agent reads.",
                    )
    except TimeoutError:
        limit = f"The limit is {BODY_SECONDS:g} s."
        raise _Late("The request was not received in time", limit, "Try again.") from None
    except web.RequestPayloadError:
        raise BadUsage(
            "Malformed request body",
            hint="Send a JSON object; /openapi.json describes each request.",
        ) from None
    return held


def _problem(error: CockpitError, **more: Any) -> web.Response:
    body = problem(error, **more)
    answer = web.json_response(
        body, status=body["status"], content_type=MEDIA_TYPE, headers=API_HEADERS
    )
    if answer.status == 401:
        answer.headers["WWW-Authenticate"] = 'Bearer realm="cockpit"'
    return answer


async def _forward_response(request: web.Request, answer: Answer) -> web.StreamResponse:
    """Send the response as it arrives, until it ends or the client disconnects."""
    response = web.StreamResponse(status=answer.status, headers={**API_HEADERS, **answer.headers})
    await response.prepare(request)
    pending = asyncio.ensure_future(_next_block(answer))
    try:
        while request.transport is not None and not request.transport.is_closing():
            if not (await asyncio.wait({pending}, timeout=LOOK))[0]:
                continue
            block = pending.result()
            async with asyncio.timeout(STALLED):
                if block is None:
                    await response.write_eof()
                    break
                await response.write(block)
            pending = asyncio.ensure_future(_next_block(answer))
    except ConnectionError:
        pass  # the client has disconnected
    except (CockpitError, TimeoutError):
        # Too late for a problem document. The client notices that the end is missing.
        if request.transport is not None:
            request.transport.abort()
    finally:
        pending.cancel()
        await asyncio.gather(pending, return_exceptions=True)
    return response


async def _next_block(answer: Answer) -> bytes | None:
    return await anext(answer.blocks, None)


# WebSocket


def _socket() -> web.WebSocketResponse:
    return web.WebSocketResponse(heartbeat=30, max_msg_size=LONGEST_MESSAGE, timeout=1.0)


def _check_handshake(request: web.Request) -> None:
    """Raise `BadUsage` unless the connection can become a WebSocket."""
    try:
        possible = bool(_socket().can_prepare(request))
    except ValueError:  # a key that is not ASCII
        possible = False
    if not possible:
        raise BadUsage(
            "The WebSocket handshake is not valid",
            "Version 13 (RFC 6455) is required.",
            hint="Connect with a WebSocket client.",
        )


async def _send_messages(request: web.Request, answer: Answer) -> web.WebSocketResponse:
    """Send each line as a message, until the stream ends or the client closes the connection."""
    socket = _socket()
    await socket.prepare(request)
    sending = asyncio.create_task(_send_all(socket, answer))
    try:
        async for _ in socket:
            pass  # messages of the client are ignored, except a close
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        await socket.close(code=WSCloseCode.GOING_AWAY, message=b"cockpit serve has ended")
    return socket


async def _send_all(socket: web.WebSocketResponse, answer: Answer) -> None:
    with suppress(CockpitError, ConnectionError):
        async for message in messages(answer):
            await socket.send_str(message)
    await socket.close(code=WSCloseCode.GOING_AWAY, message=b"The stream has ended")
