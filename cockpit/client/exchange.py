"""One HTTP request to a supervisor, and its response, which is read in blocks.

Uses asyncio for the connection and h11 for the protocol; does not interpret requests. Each request
has a connection of its own: on a unix socket, connecting takes less than a millisecond.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from time import monotonic
from typing import Protocol

import h11

from cockpit.client.connection import Address, Connection, SocketConnection
from cockpit.client.refusals import refusal, silent
from cockpit.client.supervisor_lock import no_listener
from cockpit.config.this_user import this_user
from cockpit.core.actors import HEADER
from cockpit.core.errors import BadUsage, CockpitError

_BLOCK = 65536
_LONGEST_HEAD = 65536
_HTTP = b"HTTP/1."
_PIECES_AT_ONCE = 16
"""Other tasks get to run after this many pieces of data from another machine."""


class Allowance(Protocol):
    """A limit on the data from another machine. Each method raises an error above the limit."""

    def spend(self, pieces: int, size: int = 0) -> None:
        """Count pieces of data that arrived, and their bytes."""

    def check_body(self, size: int) -> None:
        """Check the size of a whole response, in bytes."""

    def check_line(self, size: int, seconds: float, silence: float | None) -> None:
        """Check the size of an unfinished line in bytes, and the seconds since the line began.

        `silence` is the allowed seconds without data; None: no limit.
        """


class Exchange:
    """A connection with one request and its response."""

    def __init__(
        self, connection: Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._connection = connection
        self._reader = reader
        self._writer = writer
        self._protocol = h11.Connection(h11.CLIENT, max_incomplete_event_size=_LONGEST_HEAD)
        self.host: str | None = None
        """The user's name for another machine; None for the local supervisor."""
        self.longest_silence: float | None = None
        """Seconds without data after which the connection counts as lost; None: no limit."""
        self._has_begun = False
        """Whether the response has begun."""
        self._noise = b""
        """Bytes that arrived before the response, such as the output of a shell's start-up file."""
        self.allowance: Allowance | None = None
        """The limits for another machine; None for the local supervisor."""
        self._pieces = 0

    @classmethod
    async def open(cls, address: Path | Address, patience: float) -> Exchange:
        """Open a connection, without sending a request.

        `patience` is the time limit for connecting to the local socket, in seconds. Raises
        `NoSupervisor` when nothing listens on the socket, and the errors of `Address.dial`.
        """
        if not isinstance(address, Path):
            return await cls._open_remote(address)
        try:
            async with asyncio.timeout(patience):
                reader, writer = await asyncio.open_unix_connection(str(address))
        except TimeoutError:
            raise silent(address, patience) from None
        except OSError:
            raise no_listener(address) from None
        return cls(SocketConnection(address, writer.get_extra_info("socket")), reader, writer)

    @classmethod
    async def _open_remote(cls, address: Address) -> Exchange:
        connection = address.dial()
        exchange = cls(connection, *await asyncio.open_connection(sock=connection.channel))
        exchange.host = address.name
        return exchange

    async def ask(self, method: str, target: str, body: bytes = b"") -> None:
        """Send the request, and read the status line and headers of the response.

        Raises `NoSupervisor`, or the supervisor's error if the status is not 200.
        """
        await self.send(method, target, body)
        head = await self.head()
        if head.status_code != 200:
            raise refusal(head.status_code, await self.body(), self.host)

    async def send(
        self,
        method: str,
        target: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Send the request. Without `headers`, the content type is JSON.

        Raises `BadUsage` for an invalid HTTP request, and `NoSupervisor`.
        """
        sent = [
            ("Host", "cockpit"),
            ("Connection", "close"),
            (HEADER, this_user()),
            ("Content-Length", str(len(body))),
            *({"Content-Type": "application/json"} if headers is None else headers).items(),
        ]
        try:
            request = h11.Request(method=method, target=target, headers=sent)
            data = [self._protocol.send(request)]
        except h11.LocalProtocolError:
            raise BadUsage(
                "Cannot send the request",
                "Invalid HTTP request.",
                hint="Remove control characters from names and paths.",
            ) from None
        data += [self._protocol.send(h11.Data(data=body)), self._protocol.send(h11.EndOfMessage())]
        for piece in data:
            self._writer.write(piece or b"")
        try:
            await self._writer.drain()
        except OSError:
            raise await self.broken() from None

    async def head(self) -> h11.Response:
        """Return the response's status line and headers, whatever the status.

        Raises `NoSupervisor`.
        """
        head = await self._next()
        if not isinstance(head, h11.Response):
            raise await self.broken()
        return head

    async def body(self) -> bytes:
        """Return the body of the response."""
        blocks, size = [], 0
        async for block in self.blocks():
            blocks.append(block)
            size += len(block)
            if self.allowance is not None:
                self.allowance.check_body(size)
        return b"".join(blocks)

    async def blocks(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives. Raises `NoSupervisor` if the connection is lost."""
        while True:
            event = await self._next()
            if isinstance(event, h11.Data):
                await self._count(len(event.data))
                yield bytes(event.data)
            else:
                return

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield the complete lines of the body, without newlines; empty lines are skipped.

        `allowance` limits the length of a line and the time until the line is complete.
        """
        held: list[bytes] = []
        size, begun = 0, monotonic()
        async for block in self.blocks():
            *ends, rest = block.split(b"\n")
            for end in ends:
                line = b"".join((*held, end))
                held, size = [], 0
                if line.strip():
                    begun = 0.0
                    await self._count(0)
                    yield line
            if rest:
                held.append(rest)
                size += len(rest)
                begun = begun or monotonic()
            if self.allowance is not None and begun:
                seconds = monotonic() - begun
                self.allowance.check_line(size, seconds, self.longest_silence)

    async def close(self) -> None:
        """Close the connection. Idempotent."""
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()
        if self._connection.slow_to_end:
            await asyncio.to_thread(self._connection.end)

    async def broken(self, received: bytes = b"") -> CockpitError:
        """Return the error for a response that ended too early."""
        if self._connection.slow_to_end:
            return await asyncio.to_thread(self._connection.broken, received)
        return self._connection.broken(received)

    def silent(self, seconds: float) -> CockpitError:
        """Return the error for a response that did not arrive within this number of seconds."""
        if self._noise and not self._has_begun:
            return self._connection.broken(self._noise)
        return self._connection.silent(seconds)

    async def _count(self, size: int) -> None:
        """Count a piece of data from another machine, and let other tasks run."""
        if self.allowance is None:
            return
        self.allowance.spend(1, size)
        self._pieces += 1
        if self._pieces % _PIECES_AT_ONCE == 0:
            await asyncio.sleep(0)

    async def _receive(self) -> bytes:
        """Return the next block of the response; text before the response is skipped."""
        while True:
            try:
                async with asyncio.timeout(self.longest_silence):
                    block = await self._reader.read(_BLOCK)
            except TimeoutError:
                if self.longest_silence is None:
                    raise
                raise self.silent(self.longest_silence) from None
            if self._has_begun:
                return block
            self._noise += block
            start = self._noise.find(_HTTP)
            if start >= 0:
                self._has_begun = True
                return self._noise[start:]
            if not block or len(self._noise) > _LONGEST_HEAD:
                raise await self.broken(self._noise)

    async def _next(self) -> h11.Response | h11.Data | h11.EndOfMessage | None:
        while True:
            try:
                event = self._protocol.next_event()
                if event is h11.NEED_DATA:
                    self._protocol.receive_data(await self._receive())
                    continue
            except (OSError, h11.RemoteProtocolError):
                raise await self.broken() from None
            if isinstance(event, h11.InformationalResponse):
                await self._count(0)
                continue
            if isinstance(event, h11.Response | h11.Data | h11.EndOfMessage):
                return event
            return None
