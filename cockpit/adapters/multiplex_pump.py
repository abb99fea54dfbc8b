"""Copy bytes between one multiplexed connection and the sockets of its streams.

Both ends of `dial-stdio --multiplex` run a `Pump`. On the host, the sockets are connected to the
supervisor; on the user's machine, to the requests of a screen. Waits with `poll`, without a timer
while it is idle. Standard library only, because `dial-stdio` must start quickly.
"""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from cockpit.core.multiplex import LONGEST_FRAME, Frame, Kind, Multiplexer

_BLOCK = 65_536
_ENOUGH = 65_536
"""While at least this many bytes wait to be sent on the connection, no stream's socket is read."""
_READABLE = select.POLLIN | select.POLLHUP | select.POLLERR


class _Joined:
    """A stream's socket, and the data received for it."""

    def __init__(self, channel: socket.socket) -> None:
        self.channel = channel
        self.inbox = bytearray()
        """Received data that the socket has not accepted yet. The multiplexer limits this to one
        flow-control window."""
        self.read_all = False
        """Whether the socket was read up to the end of its data."""
        self.received_end = False


class Pump:
    """Copies between one connection and the sockets of its streams. Used by one thread."""

    def __init__(
        self,
        multiplexer: Multiplexer,
        source: int,
        sink: int,
        *,
        opened: Callable[[int, bytes], None] = lambda _stream, _purpose: None,
        reset: Callable[[int, bytes], None] = lambda _stream, _reason: None,
    ) -> None:
        """`source` and `sink` are the descriptors of the connection, which can be the same.

        `opened` is called with the purpose of a stream that the peer opens. `reset` is called with
        the reason when the peer resets a stream, before the stream's socket is closed.
        """
        self.multiplexer = multiplexer
        self._source = source
        self._sink = sink
        self._opened = opened
        self._was_reset = reset
        self._streams: dict[int, _Joined] = {}
        self._unsent = b""

    @property
    def is_unused(self) -> bool:
        return not self._streams

    def join(self, stream: int, channel: socket.socket) -> None:
        """Copy between a stream and a socket; the pump closes the socket."""
        channel.setblocking(False)
        self._streams[stream] = _Joined(channel)

    def cut(self, stream: int, exit_code: int = 0, reason: str = "") -> None:
        """Reset a stream, with an exit code and a reason for the peer, and close its socket.
        Idempotent."""
        self.multiplexer.reset(stream, exit_code, reason)
        self._drop(stream)

    def close(self) -> None:
        """Close the sockets of all streams."""
        for stream in tuple(self._streams):
            self._drop(stream)

    @contextmanager
    def unblocked(self) -> Iterator[None]:
        """Make the connection's descriptors non-blocking for the duration of the block."""
        before = {fd: os.get_blocking(fd) for fd in (self._source, self._sink)}
        try:
            for fd in before:
                os.set_blocking(fd, False)
            yield
        finally:
            for fd, blocking in before.items():
                with suppress(OSError):
                    os.set_blocking(fd, blocking)

    def turn(self, *, seconds: float | None = None, wake: int | None = None) -> int | None:
        """Wait until something can be copied, for at most `seconds`, and copy it.

        Returns the number of bytes that arrived on the connection, or None at the end of the
        connection. With None as `seconds`, waits without a limit. `wake` is another descriptor
        whose data ends the wait. Raises `Violation` and `OSError`.
        """
        ready = self._wait(seconds, wake)
        arrived: int | None = 0
        if ready.get(self._source, 0) & _READABLE:
            arrived = self._receive()
        for stream, joined in tuple(self._streams.items()):
            happened = ready.get(joined.channel.fileno(), 0)
            if happened & (select.POLLOUT | select.POLLHUP | select.POLLERR) and joined.inbox:
                self._deliver(stream, joined)
            if happened & _READABLE and self._is_wanted(stream, joined):
                self._read(stream, joined)
        self._send()
        return arrived

    def _wait(self, seconds: float | None, wake: int | None) -> dict[int, int]:
        masks = {self._source: select.POLLIN}
        if self._unsent or self.multiplexer.has_output:
            masks[self._sink] = masks.get(self._sink, 0) | select.POLLOUT
        if wake is not None:
            masks[wake] = select.POLLIN
        for stream, joined in self._streams.items():
            mask = select.POLLIN if self._is_wanted(stream, joined) else 0
            mask |= select.POLLOUT if joined.inbox else 0
            if mask:
                masks[joined.channel.fileno()] = mask
        poll = select.poll()
        for fd, mask in masks.items():
            poll.register(fd, mask)
        return dict(poll.poll(None if seconds is None else max(0, seconds) * 1000))

    def _is_wanted(self, stream: int, joined: _Joined) -> bool:
        """Return whether data that is read from this socket can be sent on the connection now."""
        if joined.read_all or not self.multiplexer.is_greeted:
            return False
        enough = len(self._unsent) + self.multiplexer.queued >= _ENOUGH
        return not enough and self.multiplexer.may_send(stream) > 0

    def _receive(self) -> int | None:
        try:
            block = os.read(self._source, _BLOCK)
        except BlockingIOError:
            return 0
        if not block:
            return None
        for frame in self.multiplexer.receive(block):
            self._take(frame)
        return len(block)

    def _take(self, frame: Frame) -> None:
        if frame.kind is Kind.OPEN:
            self._opened(frame.stream, frame.payload)
            return
        joined = self._streams.get(frame.stream)
        if joined is None:
            return
        if frame.kind is Kind.RESET:
            self._was_reset(frame.stream, frame.payload)
            self._drop(frame.stream)
            return
        if frame.kind is Kind.DATA:
            joined.inbox += frame.payload
        else:
            joined.received_end = True
        self._deliver(frame.stream, joined)

    def _deliver(self, stream: int, joined: _Joined) -> None:
        """Write received data to the stream's socket, as much as the socket accepts now."""
        try:
            while joined.inbox:
                count = joined.channel.send(joined.inbox)
                del joined.inbox[:count]
                self.multiplexer.consumed(stream, count)
            if joined.received_end:
                joined.channel.shutdown(socket.SHUT_WR)
                self._drop_if_ended(stream, joined)
        except BlockingIOError:
            return
        except OSError:
            self.cut(stream)

    def _read(self, stream: int, joined: _Joined) -> None:
        try:
            block = joined.channel.recv(min(LONGEST_FRAME, self.multiplexer.may_send(stream)))
        except BlockingIOError:
            return
        except OSError:
            self.cut(stream)
            return
        if block:
            self.multiplexer.send(stream, block)
            self._streams[stream] = self._streams.pop(
                stream
            )  # the other streams come first next time
            return
        joined.read_all = True
        self.multiplexer.end(stream)
        self._drop_if_ended(stream, joined)

    def _drop_if_ended(self, stream: int, joined: _Joined) -> None:
        if joined.read_all and joined.received_end and not joined.inbox:
            self._drop(stream)

    def _drop(self, stream: int) -> None:
        joined = self._streams.pop(stream, None)
        if joined is not None:
            joined.channel.close()

    def _send(self) -> None:
        self._unsent += self.multiplexer.output()
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._sink, self._unsent) :]
        except BlockingIOError:
            return
