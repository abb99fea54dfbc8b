"""Several byte streams over one connection, compressed: the protocol of `dial-stdio --multiplex`.

Each end first sends `GREETING`, then one zlib stream of frames: kind, stream number, length,
payload. Stream numbers grow and are never reused. Each end closes its direction of a stream with
one `END` or `RESET`. In each stream, a sender may have sent at most `WINDOW` bytes that the
receiver has not consumed (`STEP_WINDOW` in a stream to `cockpit move-step`), so a slow reader
delays only its own stream, and memory is bounded.

The peer is not trusted: each violation raises `Violation`, and the connection must be closed.
Frames of an unknown kind are skipped, so that later versions can add kinds.

The protocol is cockpit's own. HTTP/2 with the library h2 has frames and flow control, but
compresses no bodies and takes 50 ms to load at each end, while `dial-stdio` loads only the standard
library. The far end would still have to turn each stream into a connection to the socket,
whose server speaks HTTP/1.1.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

GREETING = b"cockpit-multiplex 1\n"
LONGEST_NOISE = 65_536
"""Maximum bytes before the greeting, such as the text of a shell's start-up file."""
LONGEST_FRAME = 16_384
"""Maximum bytes of a payload."""
WINDOW = 262_144
"""Maximum bytes of one stream that were sent and are not consumed yet."""
STEP = b"step"
"""Payload of an `OPEN` for a stream to `cockpit move-step`; without a payload, the stream is a
connection to the supervisor."""
STEP_WINDOW = 4_194_304
"""`WINDOW` of a stream to `cockpit move-step`, which carries files."""
MOST_STREAMS = 128
"""Maximum open streams. Less than the number of connections that the supervisor allows one process.
"""
MOST_RESET = 1_024
"""Maximum streams that this end has reset and the peer has not closed yet."""
LONGEST_REASON = 1_024
"""Maximum bytes of the text in a `RESET`."""
_PIECE = 65_536
"""Maximum bytes that are decompressed at once, whatever the compressed size."""
_HEADER = struct.Struct("!BIH")
_COUNT = struct.Struct("!I")


class Violation(Exception):
    """The peer broke the protocol."""


class Kind(IntEnum):
    OPEN = 1
    DATA = 2
    END = 3
    """The sender of the frame sends no more data in this stream."""
    RESET = 4
    """The stream is cut in both directions. Payload: an exit code in one byte, then the reason."""
    CREDIT = 5
    """Payload: the number of bytes that the sender of the frame has consumed."""
    PING = 6
    PONG = 7


_KINDS = {kind.value: kind for kind in Kind}


@dataclass(frozen=True, slots=True)
class Frame:
    """A received `OPEN`, `DATA`, `END` or `RESET`. An `OPEN` can have any payload; only an empty
    payload and `STEP` are supported."""

    kind: Kind
    stream: int
    payload: bytes = b""


@dataclass(slots=True)
class _Stream:
    window: int = WINDOW
    may_send: int = WINDOW
    may_receive: int = WINDOW
    consumed: int = 0
    """Bytes that were consumed, but not yet acknowledged to the peer."""
    sent_end: bool = False
    received_end: bool = False

    @classmethod
    def to(cls, purpose: bytes) -> _Stream:
        window = STEP_WINDOW if purpose == STEP else WINDOW
        return cls(window, window, window)


class Multiplexer:
    """One end of a connection. Does no input or output."""

    def __init__(self, *, opens: bool) -> None:
        """`opens`: whether this end opens the streams; then the peer must not send `OPEN`."""
        self._opens = opens
        self._streams: dict[int, _Stream] = {}
        self._reset: dict[int, int] = {}
        """Streams that this end has reset, with the bytes that the peer may still send."""
        self._last = 0
        self._noise = b""
        """The bytes before the greeting; all received bytes until the greeting is complete."""
        self._is_greeted = False
        self._held = b""
        self._inflate = zlib.decompressobj()
        self._deflate = zlib.compressobj()
        self._frames = bytearray()
        self._greeted = False

    # Receiving

    @property
    def is_greeted(self) -> bool:
        """Whether the peer's greeting has arrived."""
        return self._is_greeted

    @property
    def received(self) -> bytes:
        """The first 200 bytes before the greeting, or instead of it, for an error message."""
        return self._noise[:200]

    def receive(self, block: bytes) -> Iterator[Frame]:
        """Process received bytes, and yield the frames that concern the caller.

        The caller must read all frames. Raises `Violation`.
        """
        block = self._receive_greeting(block)
        while block:
            try:
                self._held += self._inflate.decompress(block, _PIECE)
            except zlib.error as error:
                raise Violation("The compressed data is damaged.") from error
            if self._inflate.eof:
                raise Violation("The compressed data ended.")
            yield from self._received_frames()
            block = self._inflate.unconsumed_tail

    def _receive_greeting(self, block: bytes) -> bytes:
        """Return the part of the block after the greeting; empty until the greeting is complete."""
        if self._is_greeted:
            return block
        noise, greeting, rest = (self._noise + block).partition(GREETING)
        self._noise = noise
        if len(noise) > LONGEST_NOISE:
            raise Violation("Something other than a greeting arrived.")
        self._is_greeted = bool(greeting)
        return rest

    def _received_frames(self) -> Iterator[Frame]:
        start = 0
        while len(self._held) - start >= _HEADER.size:
            number, stream, length = _HEADER.unpack_from(self._held, start)
            if length > LONGEST_FRAME:
                raise Violation("A frame is too long.")
            end = start + _HEADER.size + length
            if len(self._held) < end:
                break
            payload = self._held[start + _HEADER.size : end]
            start = end
            kind = _KINDS.get(number)
            if kind is not None and (frame := self._take(kind, stream, payload)):
                yield frame
        self._held = self._held[start:]

    def _take(self, kind: Kind, stream: int, payload: bytes) -> Frame | None:
        """Handle a received frame; return the frame if it concerns the caller, else None."""
        if kind is Kind.PING:
            if self.queued < _PIECE:  # otherwise the queued data shows that this end works
                self._queue(Kind.PONG, 0)
            return None
        if kind is Kind.PONG:
            return None
        if kind is Kind.OPEN:
            return self._take_open(stream, payload)
        if not 0 < stream <= self._last:
            raise Violation("A frame belongs to a stream that was never opened.")
        if stream in self._reset:
            self._take_after_reset(kind, stream, payload)
            return None
        state = self._streams.get(stream)
        if state is None:
            return None  # a late CREDIT or RESET of a stream that is closed
        if kind is Kind.CREDIT:
            self._take_credit(state, payload)
            return None
        if kind is Kind.RESET:
            del self._streams[stream]
            if not state.sent_end:
                self._queue(Kind.RESET, stream, b"\0")
            return Frame(kind, stream, payload[: LONGEST_REASON + 1])
        if state.received_end:
            raise Violation("Data follows the end of its stream.")
        if kind is Kind.END:
            state.received_end = True
            self._close_if_ended(stream, state)
            return Frame(kind, stream)
        state.may_receive -= len(payload)
        if state.may_receive < 0:
            raise Violation("A stream sent more than its limit.")
        return Frame(kind, stream, payload)

    def _take_open(self, stream: int, payload: bytes) -> Frame:
        if self._opens or stream <= self._last:
            raise Violation("A stream was opened by the wrong end, or twice.")
        if len(self._streams) >= MOST_STREAMS:
            raise Violation("Too many streams are open.")
        self._last = stream
        self._streams[stream] = _Stream.to(payload)
        return Frame(Kind.OPEN, stream, payload)

    def _take_credit(self, state: _Stream, payload: bytes) -> None:
        if len(payload) != _COUNT.size:
            raise Violation("A frame has the wrong length.")
        state.may_send += _COUNT.unpack(payload)[0]
        if state.may_send > state.window:
            raise Violation("More bytes were consumed than were sent.")

    def _take_after_reset(self, kind: Kind, stream: int, payload: bytes) -> None:
        if kind in (Kind.END, Kind.RESET):
            del self._reset[stream]
        elif kind is Kind.DATA:
            self._reset[stream] -= len(payload)
            if self._reset[stream] < 0:
                raise Violation("A stream sent data after it was reset.")

    # Sending

    @property
    def has_output(self) -> bool:
        return bool(self._frames) or not self._greeted

    @property
    def queued(self) -> int:
        """Bytes of frames that `output` has not returned yet."""
        return len(self._frames)

    def output(self) -> bytes:
        """Return the bytes to send. The peer can decompress these bytes without waiting for
        more."""
        before = b"" if self._greeted else GREETING
        self._greeted = True
        if not self._frames:
            return before
        frames, self._frames = bytes(self._frames), bytearray()
        return before + self._deflate.compress(frames) + self._deflate.flush(zlib.Z_SYNC_FLUSH)

    @property
    def has_most_reset(self) -> bool:
        """Whether this end has reset `MOST_RESET` streams that the peer has not closed yet."""
        return len(self._reset) >= MOST_RESET

    def open_stream(self, purpose: bytes = b"") -> int | None:
        """Open a stream and return its number.

        Returns None if too many streams are open, or reset and not closed by the peer yet.
        `purpose`: `STEP`, or empty for a connection to the supervisor.
        """
        if len(self._streams) >= MOST_STREAMS or self.has_most_reset:
            return None
        self._last += 1
        self._streams[self._last] = _Stream.to(purpose)
        self._queue(Kind.OPEN, self._last, purpose)
        return self._last

    def may_send(self, stream: int) -> int:
        """Return the maximum number of bytes for `send`; 0 if the stream is closed."""
        state = self._streams.get(stream)
        if state is None or state.sent_end:
            return 0
        return min(state.may_send, LONGEST_FRAME)

    def send(self, stream: int, payload: bytes) -> None:
        """Queue bytes to send; at most `may_send` bytes."""
        self._streams[stream].may_send -= len(payload)
        self._queue(Kind.DATA, stream, payload)

    def end(self, stream: int) -> None:
        """Close this end's direction of a stream. Idempotent."""
        state = self._streams.get(stream)
        if state is None or state.sent_end:
            return
        state.sent_end = True
        self._queue(Kind.END, stream)
        self._close_if_ended(stream, state)

    def reset(self, stream: int, exit_code: int = 0, reason: str = "") -> None:
        """Cut a stream in both directions. Idempotent."""
        state = self._streams.pop(stream, None)
        if state is None:
            return
        text = reason.encode("utf-8", "replace")[:LONGEST_REASON]
        self._queue(Kind.RESET, stream, bytes([exit_code]) + text)
        if not state.received_end:
            self._reset[stream] = state.may_receive

    def consumed(self, stream: int, count: int) -> None:
        """Record that this many received bytes were passed on, so that the peer may send more."""
        state = self._streams.get(stream)
        if state is None or state.received_end:
            return
        state.consumed += count
        if state.consumed >= state.window // 2:
            state.may_receive += state.consumed
            self._queue(Kind.CREDIT, stream, _COUNT.pack(state.consumed))
            state.consumed = 0

    def ping(self) -> None:
        """Queue a `PING`. The peer replies with a `PONG`, or with data if it has much to send."""
        self._queue(Kind.PING, 0)

    def _close_if_ended(self, stream: int, state: _Stream) -> None:
        if state.sent_end and state.received_end:
            del self._streams[stream]

    def _queue(self, kind: Kind, stream: int, payload: bytes = b"") -> None:
        self._frames += _HEADER.pack(kind, stream, len(payload)) + payload
