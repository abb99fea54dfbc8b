"""One HTTP exchange on a unix socket: a request goes out, an answer comes back in pieces.

asyncio for the socket, h11 for the protocol. It knows nothing of what is asked; a connection
serves one exchange, which on a unix socket costs under a millisecond and leaves no state.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import h11

from cockpit.client.refusals import lost, nobody, refusal

_BLOCK = 65536
_LONGEST_HEAD = 65536


class Exchange:
    """A connection on which one request was sent and is being answered."""

    def __init__(
        self, path: Path, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._path = path
        self._reader = reader
        self._writer = writer
        self._protocol = h11.Connection(h11.CLIENT, max_incomplete_event_size=_LONGEST_HEAD)

    @classmethod
    async def begin(cls, path: Path, method: str, target: str, body: bytes = b"") -> Exchange:
        """Connect, send the request, and read the head of the answer.

        Raises `NoSupervisor`, or what the supervisor refused with when the status is not 200.
        """
        try:
            reader, writer = await asyncio.open_unix_connection(str(path))
        except OSError:
            raise nobody(path) from None
        exchange = cls(path, reader, writer)
        try:
            await exchange._send(method, target, body)
            await exchange._accepted()
        except BaseException:
            await exchange.close()
            raise
        return exchange

    async def _send(self, method: str, target: str, body: bytes) -> None:
        headers = [
            ("Host", "cockpit"),
            ("Connection", "close"),
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(body))),
        ]
        request = h11.Request(method=method, target=target, headers=headers)
        for event in (request, h11.Data(data=body), h11.EndOfMessage()):
            self._writer.write(self._protocol.send(event) or b"")
        try:
            await self._writer.drain()
        except OSError:
            raise lost(self._path) from None

    async def _accepted(self) -> None:
        head = await self._next()
        if not isinstance(head, h11.Response):
            raise lost(self._path)
        if head.status_code != 200:
            raise refusal(head.status_code, await self.body())

    async def body(self) -> bytes:
        """All that is left of the answer."""
        return b"".join([block async for block in self.blocks()])

    async def blocks(self) -> AsyncIterator[bytes]:
        """The body as it comes. Raises `NoSupervisor` when it breaks off."""
        while True:
            event = await self._next()
            if isinstance(event, h11.Data):
                yield bytes(event.data)
            else:
                return

    async def lines(self) -> AsyncIterator[bytes]:
        """The body line by line, whatever their length; empty lines are left out."""
        held = b""
        async for block in self.blocks():
            *whole, held = (held + block).split(b"\n")
            for line in whole:
                if line.strip():
                    yield line

    async def close(self) -> None:
        """Hang up. Twice is the same as once."""
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    async def _next(self) -> h11.Response | h11.Data | h11.EndOfMessage | None:
        while True:
            try:
                event = self._protocol.next_event()
                if event is h11.NEED_DATA:
                    self._protocol.receive_data(await self._reader.read(_BLOCK))
                    continue
            except (OSError, h11.RemoteProtocolError):
                raise lost(self._path) from None
            if isinstance(event, h11.InformationalResponse):
                continue
            if isinstance(event, h11.Response | h11.Data | h11.EndOfMessage):
                return event
            return None
