"""Receive API requests, and send the responses; `gateway.py` checks the requests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from aiohttp import HttpVersion11, web

from cockpit.adapters.browser.api_problems import problem_response
from cockpit.adapters.browser.api_responses import (
    check_handshake,
    forward_response,
    send_messages,
)
from cockpit.adapters.browser.gateway import (
    LARGEST_BODY,
    PREFIX,
    READING,
    Asked,
    Denied,
    Gateway,
    is_stream,
)
from cockpit.adapters.browser.page import API_HEADERS
from cockpit.core.errors import BadUsage, CockpitError, NotNow

DESCRIPTION = "/openapi.json"
BODY_SECONDS = 60.0
"""Maximum seconds to receive the body of a request; the supervisor has the same limit."""


class ApiRoutes:
    """Receives API requests, and sends the gateway's responses."""

    def __init__(self, gateway: Gateway, cookie: Callable[[], str]) -> None:
        """`cookie`: returns the name of the screen's cookie."""
        self._gateway = gateway
        self._cookie = cookie
        self._asking: set[asyncio.Task[object]] = set()

    def add_to(self, app: web.Application) -> None:
        for path in (f"{PREFIX}{{tail:(?s:.*)}}", DESCRIPTION):
            app.router.add_route("*", path, self.ask, expect_handler=self.expect)

    async def ask(self, request: web.Request) -> web.StreamResponse:
        """Respond to one request."""
        task = asyncio.current_task()
        assert task is not None
        self._asking.add(task)
        try:
            return await self._answer(request, _asked(request, self._cookie()))
        except Denied as denied:
            return problem_response(denied, status=denied.status, kind=denied.kind)
        except _Late as late:
            return problem_response(late, status=408)
        except CockpitError as error:
            return problem_response(error)
        except ConnectionError:
            return web.Response(status=400)  # the client has disconnected
        finally:
            self._asking.discard(task)

    async def expect(self, request: web.Request) -> web.StreamResponse | None:
        """Handle `Expect: 100-continue`: ask for the body, unless the request is refused."""
        try:
            self._gateway.check(_asked(request, self._cookie()))
        except Denied as denied:
            return problem_response(denied, status=denied.status, kind=denied.kind)
        waits = request.headers["Expect"].lower() == "100-continue"
        if waits and request.version == HttpVersion11:
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            request.writer.output_size = 0  # the response has not begun
        return None

    def end(self) -> None:
        """Abort all responses in progress."""
        for task in self._asking:
            task.cancel()

    async def _answer(self, request: web.Request, asked: Asked) -> web.StreamResponse:
        self._gateway.check(asked)
        if request.path == DESCRIPTION and asked.method in READING:
            return web.Response(
                body=self._gateway.description, content_type="application/json", headers=API_HEADERS
            )
        if asked.upgrades:
            check_handshake(request)
        async with self._gateway.answer(asked, partial(_body, request)) as answer:
            if asked.upgrades and is_stream(answer):
                return await send_messages(request, answer)
            return await forward_response(request, answer)


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
    """Return the body. Raises `BadUsage` for a body that is malformed or too long, and `_Late`
    after `BODY_SECONDS`."""
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
