"""Streamed responses: JSON lines, or server-sent events for a client that requests them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from cockpit.wire.views import Form

SERVER_SENT = "text/event-stream"
BEAT = 15
"""Seconds without an event, after which a line shows that the connection is open."""


class Line(NamedTuple):
    text: str
    """JSON; empty to show only that the connection is open."""
    ident: int | None = None
    """The id of the event, from which a reconnected client continues."""


def wants_events(request: Request) -> bool:
    """Return whether the client requests server-sent events, as a browser's `EventSource` does."""
    return SERVER_SENT in request.headers.get("accept", "").lower()


def last_event(request: Request) -> int | None:
    """Return the id of the last event that a reconnected client received."""
    text = request.headers.get("last-event-id", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None


def stream(request: Request, source: AsyncIterator[Line], beat: int = 0) -> Response:
    """Return the lines in the format that the client requests.

    `beat`: seconds of silence before a keep-alive; 0 for the format's default.
    """
    as_events = wants_events(request)
    beat = beat or (BEAT if as_events else 0)
    lines = _with_keepalive(source, beat) if beat > 0 else source
    write, media_type = (_event, SERVER_SENT) if as_events else (_json_line, Form.LINES.value)

    async def encoded() -> AsyncIterator[bytes]:
        async for line in lines:
            yield write(line).encode("utf-8", "replace")

    return StreamingResponse(
        encoded(), media_type=media_type, headers={"Cache-Control": "no-store"}
    )


def _json_line(line: Line) -> str:
    return f"{line.text}\n"


def _event(line: Line) -> str:
    if not line.text:
        return ":\n\n"
    ident = "" if line.ident is None else f"id: {line.ident}\n"
    return f"{ident}data: {line.text}\n\n"


async def _with_keepalive(source: AsyncIterator[Line], seconds: float) -> AsyncIterator[Line]:
    """Yield the lines, and an empty line after `seconds` of silence."""
    pending = asyncio.ensure_future(anext(source))
    try:
        while True:
            ready, _ = await asyncio.wait({pending}, timeout=seconds)
            if not ready:
                yield Line("")
                continue
            try:
                line = pending.result()
            except StopAsyncIteration:
                return
            yield line
            pending = asyncio.ensure_future(anext(source))
    finally:
        pending.cancel()
        await asyncio.gather(pending, return_exceptions=True)


async def merged(*sources: AsyncIterator[Any]) -> AsyncGenerator[Any]:
    """Yield lines of several sources as they arrive; end when one source ends."""
    waiting = {asyncio.ensure_future(anext(source)): source for source in sources}
    try:
        while True:
            ready, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in ready:
                source = waiting.pop(task)
                try:
                    line = task.result()
                except StopAsyncIteration:
                    return
                yield line
                waiting[asyncio.ensure_future(anext(source))] = source
    finally:
        for task in waiting:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*waiting, return_exceptions=True)
