"""A connection to a supervisor: the local socket, or a byte stream to another machine.

A `Way` is an address that opens connections; a `Line` is one connection, for one request. Ways to
other machines are passed in: nothing here starts a process. Standard library and `core` only,
because the fast path uses this module.
"""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Protocol

from cockpit.client.absence import unanswered
from cockpit.client.refusals import lost, silent
from cockpit.core.errors import CockpitError


class Line(Protocol):
    """One connection. The code that opened it closes it."""

    @property
    def channel(self) -> socket.socket:
        """A connected, blocking stream socket."""

    @property
    def slow_to_end(self) -> bool:
        """Whether `end` and `broken` may block, and so need a thread."""

    def broken(self, said: bytes = b"") -> CockpitError:
        """Return why the answer ended too early, or is not an answer."""

    def silent(self, seconds: float) -> CockpitError:
        """Return the error for an answer that took too long."""

    def end(self) -> None:
        """Close the connection and end everything that belongs to it. Idempotent."""


class Way(Protocol):
    """The address of another machine's supervisor."""

    def dial(self) -> Line:
        """Return a new connection, which may still fail on first use.

        Does not block. Raises `ProgramMissing` and `Failed` when it cannot be tried at all.
        """


class SocketLine:
    """A connection to the socket of a local supervisor."""

    slow_to_end = False

    def __init__(self, path: Path, channel: socket.socket) -> None:
        self._path = path
        self.channel = channel

    def broken(self, said: bytes = b"") -> CockpitError:
        return lost(self._path)

    def silent(self, seconds: float) -> CockpitError:
        return silent(self._path, seconds)

    def end(self) -> None:
        self.channel.close()


def line_to(way: Path | Way, patience: float) -> Line:
    """Connect to a socket path, or to another machine; `patience` limits each wait, in seconds.

    Raises `NoSupervisor` when nothing listens on the socket.
    """
    if not isinstance(way, Path):
        line = way.dial()
        line.channel.settimeout(patience)
        return line
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    channel.settimeout(patience)
    try:
        channel.connect(str(way))
    except TimeoutError:
        channel.close()
        raise silent(way, patience) from None
    except OSError:
        channel.close()
        raise unanswered(way) from None
    return SocketLine(way, channel)
