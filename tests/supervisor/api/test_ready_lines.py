"""Lines of a stream that are ready together are sent together, in order, whatever their source."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import cast

import pytest
from starlette.requests import Request
from starlette.responses import StreamingResponse

from cockpit.supervisor.api.streams import Line, merged, stream


def sent(source: AsyncIterator[Line], accept: str = "") -> AsyncIterator[bytes]:
    """The pieces in which a source's lines are sent."""
    scope = {"type": "http", "headers": [(b"accept", accept.encode())]}
    response = cast(StreamingResponse, stream(Request(scope), source))
    return cast(AsyncIterator[bytes], response.body_iterator)


@pytest.mark.parametrize(
    ("accept", "together"),
    [("", b"1\n2\n"), ("text/event-stream", b"data: 1\n\ndata: 2\n\n")],
)
async def test_lines_that_are_ready_are_one_write(accept: str, together: bytes) -> None:
    more = asyncio.Event()

    async def source() -> AsyncIterator[Line]:
        yield Line("1")
        yield Line("2")
        await more.wait()
        yield Line("3")

    pieces = sent(source(), accept)
    assert await anext(pieces) == together
    more.set()
    assert b"3" in await anext(pieces)
    with pytest.raises(StopAsyncIteration):
        await anext(pieces)


async def test_a_source_that_fails_ends_the_stream_after_its_lines() -> None:
    async def source() -> AsyncIterator[Line]:
        yield Line("1")
        raise LookupError("gone")

    pieces = sent(source())
    assert await anext(pieces) == b"1\n"
    with pytest.raises(LookupError, match="gone"):
        await anext(pieces)


async def test_one_source_that_ends_ends_all_and_frees_the_others() -> None:
    freed, begun = asyncio.Event(), asyncio.Event()

    async def endless() -> AsyncIterator[int]:
        try:
            begun.set()
            yield 1
            await asyncio.Event().wait()
        finally:
            freed.set()

    async def short() -> AsyncIterator[int]:
        await begun.wait()
        yield 2

    assert sorted([line async for line in merged(endless(), short())]) == [1, 2]
    assert freed.is_set()


async def test_a_client_that_leaves_frees_the_source() -> None:
    freed = asyncio.Event()

    async def source() -> AsyncIterator[Line]:
        try:
            yield Line("1")
            await asyncio.Event().wait()
        finally:
            freed.set()

    pieces = sent(source())
    await anext(pieces)
    await pieces.aclose()  # type: ignore[attr-defined]
    assert freed.is_set()
