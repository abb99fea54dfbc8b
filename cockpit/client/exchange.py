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

from cockpit.client.line import Line, SocketLine, Way
from cockpit.client.refusals import nobody, refusal, silent
from cockpit.core.errors import CockpitError

_BLOCK = 65536
_LONGEST_HEAD = 65536
_HTTP = b"HTTP/1."
_SHOWN = 200


class Exchange:
    """A connection on which one request was sent and is being answered."""

    def __init__(
        self, line: Line, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._line = line
        self._reader = reader
        self._writer = writer
        self._protocol = h11.Connection(h11.CLIENT, max_incomplete_event_size=_LONGEST_HEAD)
        self.longest_silence: float | None = None
        """Seconds without a byte that are taken for the end; None: as long as it likes."""
        self._said = b""
        """The beginning of what came, to be shown if it is no HTTP."""

    @classmethod
    async def open(cls, way: Path | Way, patience: float) -> Exchange:
        """A connection on which nothing was asked yet; `patience` is in seconds.

        Raises `NoSupervisor` when nobody listens.
        """
        if not isinstance(way, Path):
            return await cls._by(way)
        try:
            async with asyncio.timeout(patience):
                reader, writer = await asyncio.open_unix_connection(str(way))
        except TimeoutError:
            raise silent(way, patience) from None
        except OSError:
            raise nobody(way) from None
        return cls(SocketLine(way, writer.get_extra_info("socket")), reader, writer)

    @classmethod
    async def _by(cls, way: Way) -> Exchange:
        line = way.dial()
        return cls(line, *await asyncio.open_connection(sock=line.channel))

    async def ask(self, method: str, target: str, body: bytes = b"") -> None:
        """Send the one request, and read the head of the answer.

        Raises `NoSupervisor`, or what the supervisor refused with when the status is not 200.
        """
        await self._send(method, target, body)
        await self._accepted()

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
            raise await self.broken() from None

    async def _accepted(self) -> None:
        head = await self._next()
        if not isinstance(head, h11.Response):
            raise await self.broken()
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
        if self._line.slow_to_end:
            await asyncio.to_thread(self._line.end)

    async def broken(self, said: bytes = b"") -> CockpitError:
        """Why the answer ended, where it should not have."""
        if self._line.slow_to_end:
            return await asyncio.to_thread(self._line.broken, said)
        return self._line.broken(said)

    def silent(self, seconds: float) -> CockpitError:
        """What to say when nothing came for so long."""
        return self._line.silent(seconds)

    async def _heard(self) -> bytes:
        """What comes next. What does not even begin like HTTP is refused before it has ended."""
        try:
            async with asyncio.timeout(self.longest_silence):
                block = await self._reader.read(_BLOCK)
        except TimeoutError:
            if self.longest_silence is None:
                raise
            raise self.silent(self.longest_silence) from None
        if len(self._said) < len(_HTTP):
            self._said += block[:_SHOWN]
            if not self._said.startswith(_HTTP[: len(self._said)]):
                raise await self.broken(self._said)
        return block

    async def _next(self) -> h11.Response | h11.Data | h11.EndOfMessage | None:
        while True:
            try:
                event = self._protocol.next_event()
                if event is h11.NEED_DATA:
                    self._protocol.receive_data(await self._heard())
                    continue
            except (OSError, h11.RemoteProtocolError):
                raise await self.broken() from None
            if isinstance(event, h11.InformationalResponse):
                continue
            if isinstance(event, h11.Response | h11.Data | h11.EndOfMessage):
                return event
            return None
