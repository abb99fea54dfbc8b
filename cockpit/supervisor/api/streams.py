"""Streamed responses: JSON lines, or server-sent events for a client that requests them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import NamedTuple, TypeVar

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from cockpit.wire.views import Form

SERVER_SENT = "text/event-stream"
BEAT = 15
"""Seconds without an event after which a keep-alive line is sent."""
MOST_READY = 64
"""Maximum lines in the queue of one stream; if a client is slow, further lines wait in their
source."""

T = TypeVar("T")


class Line(NamedTuple):
    text: str
    """JSON; empty for a keep-alive."""
    ident: int | None = None
    """The id of the event, from which a reconnected client continues."""


class _Ended(NamedTuple):
    """The end of a source, with the error that ended it."""

    error: Exception | None


def wants_events(request: Request) -> bool:
    """Return whether the client requests server-sent events, as a browser's `EventSource` does."""
    return SERVER_SENT in request.headers.get("accept", "").lower()


def last_event(request: Request) -> int | None:
    """Return the id of the last event that a reconnected client received; else None."""
    text = request.headers.get("last-event-id", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None


def stream(request: Request, source: AsyncIterator[Line], beat: int = 0) -> Response:
    """Return the lines in the format that the client requests. Lines that are ready at the same
    time are sent together.

    `beat`: seconds of silence before a keep-alive; 0 for the format's default.
    """
    as_events = wants_events(request)
    beat = beat or (BEAT if as_events else 0)
    write, media_type = (_event, SERVER_SENT) if as_events else (_json_line, Form.LINES.value)

    async def encoded() -> AsyncIterator[bytes]:
        async with aclosing(_ready(source, within=beat or None)) as ready:
            async for lines in ready:
                text = "".join(map(write, lines or [Line("")]))
                yield text.encode("utf-8", "replace")

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


async def merged(*sources: AsyncIterator[T]) -> AsyncGenerator[T]:
    """Yield lines of several sources as they arrive, until any of the sources ends."""
    async with aclosing(_ready(*sources)) as ready:
        async for lines in ready:
            for line in lines:
                yield line


async def _ready(
    *sources: AsyncIterator[T], within: float | None = None
) -> AsyncGenerator[Sequence[T]]:
    """Yield all lines that are ready; an empty list after `within` seconds without a line.

    When any source ends, yields the lines that arrived before, then ends. If the source ended with
    an error, raises that error.
    """
    arrived: asyncio.Queue[T | _Ended] = asyncio.Queue(MOST_READY)
    tasks = [asyncio.ensure_future(_forward(source, arrived)) for source in sources]
    try:
        while True:
            lines: list[T] = []
            try:
                async with asyncio.timeout(within):
                    line = await arrived.get()
            except TimeoutError:
                yield lines
                continue
            while not isinstance(line, _Ended):
                lines.append(line)
                if arrived.empty():
                    break
                line = arrived.get_nowait()
            if lines:
                yield lines
            if isinstance(line, _Ended):
                if line.error is not None:
                    raise line.error
                return
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _forward(source: AsyncIterator[T], arrived: asyncio.Queue[T | _Ended]) -> None:
    """Put a source's lines into the queue, then an `_Ended` with the source's error, if any."""
    error: Exception | None = None
    try:
        async for line in source:
            await arrived.put(line)
    except Exception as raised:  # noqa: BLE001  raised where the lines are sent
        error = raised
    await arrived.put(_Ended(error))
