"""A line to a supervisor: the socket here, or something that carries bytes to another machine.

A way says where a line leads and opens one; a line is one connection, for one exchange. Ways to
other machines are given from outside: nothing here starts a process. Standard library and `core`
only, because the fast path of the command line comes through here.
"""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Protocol

from cockpit.client.refusals import lost, nobody, silent
from cockpit.core.errors import CockpitError


class Line(Protocol):
    """One connection. Whoever opened it ends it."""

    @property
    def channel(self) -> socket.socket:
        """A connected stream socket, blocking."""

    @property
    def slow_to_end(self) -> bool:
        """Whether `end` and `broken` may wait for something, and so belong in a thread."""

    def broken(self, said: bytes = b"") -> CockpitError:
        """Why the answer ended too early, or why what was said instead is none."""

    def silent(self, seconds: float) -> CockpitError:
        """What to say when nothing came for so long."""

    def end(self) -> None:
        """Hang up, and leave nothing of it running. Twice is the same as once."""


class Way(Protocol):
    """How another machine's supervisor is reached."""

    def dial(self) -> Line:
        """A new line, which need not work: that is known when something is said on it.

        Does not wait. Raises `ProgramMissing` and `Failed` when it cannot even be tried.
        """


class SocketLine:
    """A connection to the socket of a supervisor on this machine."""

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
    """A line to the socket of that path, or by that way; `patience` in seconds is each wait's.

    Raises `NoSupervisor` when nobody listens on the socket.
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
        raise nobody(way) from None
    return SocketLine(way, channel)
