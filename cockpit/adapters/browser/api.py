"""Answer requests to the API with aiohttp: what a client gets when, and for how long it may wait.

Every failure is a problem document in our words, also of a request that is not HTTP. `gateway.py`
decides who may ask.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from aiohttp import HttpVersion11, WSCloseCode, web

from cockpit.adapters.browser.gateway import (
    LARGEST_BODY,
    READING,
    Answer,
    Asked,
    Denied,
    Gateway,
    is_stream,
    messages,
)
from cockpit.adapters.browser.page import API_HEADERS
from cockpit.core.errors import BadUsage, CockpitError, Failed, NotNow
from cockpit.core.problems import MEDIA_TYPE, problem

DESCRIPTION = "/openapi.json"
BODY_SECONDS = 60.0
"""Time limit for the body of a request, as at the supervisor."""
STALLED = 60.0
"""Seconds after which a client that takes nothing of its answer is disconnected."""
LOOK = 5.0
"""Seconds between two looks whether the client of a silent stream is still there."""
LONGEST_MESSAGE = 4096
"""Bytes of a client's WebSocket message; none is listened to."""

_log = logging.getLogger(__name__)


class ApiRoutes:
    """Answers what is asked of the gateway."""

    def __init__(self, gateway: Gateway, cookie: Callable[[], str]) -> None:
        """`cookie` returns the name of the screen's cookie."""
        self._gateway = gateway
        self._cookie = cookie
        self._asking: set[asyncio.Task[object]] = set()

    async def ask(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
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
            return web.Response(status=400)  # the client has gone
        finally:
            self._asking.discard(task)

    async def expect(self, request: web.Request) -> web.StreamResponse | None:
        """Ask for the body of a request whose client waits, unless it is refused anyway."""
        try:
            self._gateway.check(_asked(request, self._cookie()))
        except Denied as denied:
            return _problem(denied, status=denied.status, kind=denied.kind)
        waits = request.headers["Expect"].lower() == "100-continue"
        if waits and request.version == HttpVersion11:
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            request.writer.output_size = 0  # the answer has not begun
        return None

    def end(self) -> None:
        """Break off all answers."""
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
            return await _pass_on(request, answer)


class Connection(web.RequestHandler):
    """A connection; what fails outside of a handler gets a problem document too."""

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
            raise ConnectionError("The answer has begun already")
        answer = _problem(
            BadUsage("The request is not HTTP/1.1", "Or a line of its head is too long.")
            if status == 400
            else Failed("cockpit serve failed to answer", "Its terminal shows the error.")
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
    """The body. Raises `BadUsage` for one that is too long, and `_Late`."""
    held = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for block in request.content.iter_any():
                held += block
                if len(held) > LARGEST_BODY:
                    limit = f"{LARGEST_BODY // 1024} KiB is the limit."
                    raise BadUsage("The request is too long", limit)
    except TimeoutError:
        limit = f"{BODY_SECONDS:g} s is the limit."
        raise _Late("The request was not received in time", limit, "Ask again.") from None
    except web.RequestPayloadError:
        raise BadUsage("The body of the request is not HTTP") from None
    return held


def _problem(error: CockpitError, **more: Any) -> web.Response:
    body = problem(error, **more)
    answer = web.json_response(
        body, status=body["status"], content_type=MEDIA_TYPE, headers=API_HEADERS
    )
    if answer.status == 401:
        answer.headers["WWW-Authenticate"] = 'Bearer realm="cockpit"'
    return answer


async def _pass_on(request: web.Request, answer: Answer) -> web.StreamResponse:
    """Send the answer as it arrives, until it ends or the client has gone."""
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
        pass  # the client has gone
    except (CockpitError, TimeoutError):
        # Too late for a problem document: the client sees that the end is missing.
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
        raise BadUsage("The WebSocket handshake is not valid", "It needs version 13 (RFC 6455).")


async def _send_messages(request: web.Request, answer: Answer) -> web.WebSocketResponse:
    """Send each line as a message, until the stream ends or the client closes the connection."""
    socket = _socket()
    await socket.prepare(request)
    sending = asyncio.create_task(_send_all(socket, answer))
    try:
        async for _ in socket:
            pass  # what the client says is not listened to, but its close is
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
