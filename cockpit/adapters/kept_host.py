"""Keep one connection to a host for all requests of this process.

`dial` opens a stream on the connection (`core/multiplex.py`), so a request needs no login. `step`
opens a stream to a new `cockpit move-step` on the host. One thread for each host copies the bytes.
The first request opens the connection; after a loss, the next request opens it again. If the host's
cockpit is too old, each request gets a process of its own.
"""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from time import monotonic

from cockpit.adapters.multiplex_pump import Pump
from cockpit.adapters.remote_host import (
    DIAL,
    MULTIPLEX,
    STEP_COMMAND,
    RemoteConnection,
    RemoteHost,
)
from cockpit.core.errors import CockpitError, Failed, NoSupervisor
from cockpit.core.multiplex import MOST_RESET, MOST_STREAMS, STEP, Multiplexer, Violation
from cockpit.core.safetext import safe_line

PING_SECONDS = 12.0
"""Seconds without data after which the host is pinged.

Longer than the keepalive of the event stream, so that no pings are sent while a screen is open.
"""
DEAD_SECONDS = 30.0
"""Seconds without data after which the connection counts as lost."""
OLD_SECONDS = 600.0
"""Seconds until cockpit tries a persistent connection again with a host whose cockpit was too old,
because the host may have been upgraded."""


class KeptHost:
    """A host with one persistent connection, for a process that sends the host many requests."""

    def __init__(
        self, host: RemoteHost, *, ping: float = PING_SECONDS, dead: float = DEAD_SECONDS
    ) -> None:
        self.host = host
        self._ping = ping
        self._dead = dead
        self._lock = threading.Lock()
        self._line: _Line | None = None
        self._old_until: float | None = None

    @property
    def name(self) -> str:
        return self.host.name

    @property
    def is_old(self) -> bool:
        """Whether the host's cockpit is too old to keep one connection."""
        return self._old_until is not None

    @property
    def remark(self) -> str:
        """The advice to upgrade the host's cockpit; empty unless it is too old."""
        if not self.is_old:
            return ""
        return (
            f"{self.host.name} has an older cockpit, so each request logs in there again. "
            f"Upgrade it (agents keep running): cockpit hosts install {self.host.name}"
        )

    def dial(self) -> RemoteConnection | StreamConnection:
        """Open a stream; if the host's cockpit is too old, start a separate process instead.

        Raises `ProgramMissing` or `Failed` if the command does not start.
        """
        return self._dial(b"")

    def step(self) -> RemoteConnection | StreamConnection:
        """Like `dial`, for a new `cockpit move-step` on the host."""
        return self._dial(STEP)

    def _dial(self, purpose: bytes) -> RemoteConnection | StreamConnection:
        with self._lock:
            if self._line is not None and (connection := self._line.dial(purpose)) is not None:
                return connection
            if self._old_until is not None and monotonic() < self._old_until:
                return self.host.step() if purpose == STEP else self.host.dial()
            self._line = _Line(self, self.host.dial(MULTIPLEX), self._ping, self._dead)
            connection = self._line.dial(purpose)
            assert connection is not None  # the thread has not started
            self._line.start()
            return connection

    def found(self, *, is_old: bool) -> None:
        """Record whether the host's cockpit is too old."""
        self._old_until = monotonic() + OLD_SECONDS if is_old else None

    def close_soon(self) -> None:
        """Close the connection without waiting. Idempotent; the next `dial` opens it again."""
        if self._line is not None:
            self._line.close_soon()

    def close(self) -> None:
        """Close the connection, and wait until its process has ended. Idempotent."""
        with self._lock:
            line, self._line = self._line, None
        if line is not None:
            line.close_soon()
            line.join()


class StreamConnection:
    """A stream on a host's persistent connection, for one request."""

    slow_to_end = True

    def __init__(self, line: _Line, channel: socket.socket, purpose: bytes) -> None:
        self.channel = channel
        self.purpose = purpose
        self._line = line
        self.own_process: RemoteConnection | None = None
        """The process that replaced this stream, because the host's cockpit is too old."""
        self.reason: CockpitError | None = None
        """Why this stream was not opened, or was reset by the host; None if no reason is known."""

    def broken(self, received: bytes = b"") -> CockpitError:
        """Return the error for a broken stream. If there is an `own_process`, waits briefly for its
        exit."""
        if self.own_process is not None:
            return self.own_process.broken(received)
        if received:
            return self._line.host.broken(None, [], received)
        return self.reason or self._line.lost or self._line.host.broken(0, [])

    def silent(self, seconds: float) -> CockpitError:
        if self.own_process is not None:
            return self.own_process.silent(seconds)
        return self._line.silent(seconds)

    def end(self) -> None:
        """Close the stream. Idempotent."""
        self.channel.close()
        self._line.leave(self)


class _Line(threading.Thread):
    """One connection to a host: its process, its streams, and the thread that copies their
    bytes."""

    def __init__(self, kept: KeptHost, process: RemoteConnection, ping: float, dead: float) -> None:
        super().__init__(name=f"line to {kept.host.name}", daemon=True)
        self.host = kept.host
        self.lost: CockpitError | None = None
        """Why the connection was lost or closed; None while the connection is open."""
        self._kept = kept
        self._process = process
        self._multiplexer = Multiplexer(opens=True)
        self._ping = ping
        self._dead = dead
        self._lock = threading.Lock()
        self._wake, self._waker = socket.socketpair()
        self._waker.setblocking(False)
        self._waiting: dict[StreamConnection, socket.socket] = {}
        """Streams that were not opened yet, with this thread's end of each socket pair."""
        self._left: list[StreamConnection] = []
        self._numbers: dict[StreamConnection, int] = {}
        self._connections: dict[int, StreamConnection] = {}
        self._abandoned = False
        """Whether a caller has stopped waiting for this connection."""
        self._closing = False
        self._over = False

    # Called by any thread

    def dial(self, purpose: bytes) -> StreamConnection | None:
        """Open a stream; None if the connection was lost."""
        with self._lock:
            if self._over:
                return None
            theirs, ours = socket.socketpair()
            connection = StreamConnection(self, theirs, purpose)
            self._waiting[connection] = ours
        self._wake_up()
        return connection

    def leave(self, connection: StreamConnection) -> None:
        """Close a stream that is no longer needed. Idempotent."""
        with self._lock:
            process, over = connection.own_process, self._over
            if not over:
                self._left.append(connection)
        if process is not None:
            process.end()
        elif over:
            return
        self._wake_up()

    def silent(self, seconds: float) -> CockpitError:
        if noise := self._noise:
            return self.host.broken(None, [], noise)
        return self._process.silent(seconds)

    @property
    def _noise(self) -> bytes:
        """The bytes that arrived instead of the host's greeting; empty after the greeting."""
        return b"" if self._multiplexer.is_greeted else self._multiplexer.received

    def close_soon(self) -> None:
        """End the process and all streams, without waiting. Idempotent."""
        with self._lock:
            self._closing = True
        self._wake_up()

    def _wake_up(self) -> None:
        with suppress(OSError):  # the thread is already awake, or has ended
            self._waker.send(b"!")

    # In the thread

    def run(self) -> None:
        multiplexer = self._multiplexer
        line = self._process.channel
        pump = Pump(multiplexer, line.fileno(), line.fileno(), reset=self._was_reset)
        try:
            with pump.unblocked():
                self.lost = self._copy(multiplexer, pump)
        except Violation as error:
            self.lost = self._violated(multiplexer, error)
        except OSError:
            self.lost = self._process.broken()
        finally:
            self._finish(multiplexer, pump)

    def _copy(self, multiplexer: Multiplexer, pump: Pump) -> CockpitError:
        """Copy until the connection is lost or closed; return the reason."""
        heard, asked = monotonic(), False
        while True:
            with self._lock:
                if self._closing:
                    return self.host.broken(0, [])
                self._leave_streams(pump)
                if multiplexer.is_greeted:
                    self._open_streams(multiplexer, pump)
                elif not self._waiting and self._abandoned:
                    # The caller has stopped waiting, and the connection may never be made.
                    self._over = True
                    return self.host.broken(0, [])
            wait = (self._dead if asked else self._ping) - (monotonic() - heard)
            idle = multiplexer.is_greeted and pump.is_unused
            arrived = pump.turn(seconds=None if idle else wait, wake=self._wake.fileno())
            if arrived is None:
                return self._process.broken(self._noise)
            self._sleep_again()
            if arrived:
                heard, asked = monotonic(), False
                if multiplexer.is_greeted:
                    self._kept.found(is_old=False)
            elif idle:
                heard, asked = monotonic(), False
            elif monotonic() - heard >= self._dead:
                return self.silent(self._dead)
            elif not asked and monotonic() - heard >= self._ping:
                multiplexer.ping()
                asked = True

    def _leave_streams(self, pump: Pump) -> None:
        left, self._left = self._left, []
        for connection in left:
            if (ours := self._waiting.pop(connection, None)) is not None:
                ours.close()
                self._abandoned = True
            if (stream := self._numbers.pop(connection, None)) is not None:
                del self._connections[stream]
                pump.cut(stream)

    def _open_streams(self, multiplexer: Multiplexer, pump: Pump) -> None:
        waiting, self._waiting = self._waiting, {}
        for connection, ours in waiting.items():
            stream = multiplexer.open_stream(connection.purpose)
            if stream is None:
                connection.reason = _too_many(self.host.name, multiplexer)
                ours.close()
                continue
            self._numbers[connection] = stream
            self._connections[stream] = connection
            pump.join(stream, ours)

    def _sleep_again(self) -> None:
        self._wake.setblocking(False)
        with suppress(BlockingIOError):
            while self._wake.recv(4096):
                pass

    def _was_reset(self, stream: int, payload: bytes) -> None:
        """Store the host's reason for resetting a stream."""
        connection = self._connections.get(stream)
        if connection is not None and payload[:1] not in (b"", b"\0"):
            lines = payload[1:].decode("utf-8", "replace").splitlines()
            output = [safe_line(line, 200) for line in lines[:3]]
            connection.reason = self.host.broken(payload[0], output)

    def _violated(self, multiplexer: Multiplexer, error: Violation) -> CockpitError:
        if not multiplexer.is_greeted:
            return self.host.broken(None, [], multiplexer.received)
        return NoSupervisor(
            f"Host {self.host.name} did not answer like a supervisor",
            f"{error} The connection was closed.",
            f"To check it: {self.host.by_hand('doctor')}",
        )

    def _finish(self, multiplexer: Multiplexer, pump: Pump) -> None:
        """Close the streams, and end the process.

        If the host's cockpit is too old, each stream that was not opened gets its own process.
        """
        is_old = not multiplexer.is_greeted and self._process.lacks_option(MULTIPLEX)
        if is_old:
            self._kept.found(is_old=True)
        with self._lock:
            self._over = True
            waiting, self._waiting = self._waiting, {}
            for connection, ours in waiting.items():
                if is_old and connection not in self._left:
                    try:
                        command = STEP_COMMAND if connection.purpose == STEP else DIAL
                        connection.own_process = self.host.run_on(
                            connection.channel, ours, *command
                        )
                    except CockpitError as error:
                        connection.reason = error
                ours.close()
        pump.close()
        self._process.end()
        self._wake.close()
        self._waker.close()


def _too_many(name: str, multiplexer: Multiplexer) -> Failed:
    """Return the error for a stream that the multiplexer did not open."""
    title = f"Too many requests to host {name} at once"
    if multiplexer.has_most_reset:
        return Failed(
            title,
            f"The host has not closed {MOST_RESET:,} cancelled requests yet.",
            "Try again in a minute, or restart cockpit to open a new connection.",
        )
    return Failed(
        title, f"The maximum is {MOST_STREAMS}.", "Try again when some requests have been answered."
    )
