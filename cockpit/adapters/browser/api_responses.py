"""Send the gateway's responses: over HTTP as they arrive, or over a WebSocket, with one message for
each server-sent event."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from aiohttp import WSCloseCode, web

from cockpit.adapters.browser.gateway import Answer, messages
from cockpit.adapters.browser.page import API_HEADERS
from cockpit.core.errors import BadUsage, CockpitError

STALLED = 60.0
"""Seconds after which a client that does not read its response is disconnected."""
LOOK = 5.0
"""Seconds between checks that the client of a silent stream is still connected."""
LONGEST_MESSAGE = 4096
"""Maximum bytes of a client's WebSocket message. A longer message closes the connection; all other
messages are ignored."""


async def forward_response(request: web.Request, answer: Answer) -> web.StreamResponse:
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


def _socket() -> web.WebSocketResponse:
    return web.WebSocketResponse(heartbeat=30, max_msg_size=LONGEST_MESSAGE, timeout=1.0)


def check_handshake(request: web.Request) -> None:
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


async def send_messages(request: web.Request, answer: Answer) -> web.WebSocketResponse:
    """Send the data of each server-sent event as a message, until the stream ends or the client
    closes the connection."""
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
