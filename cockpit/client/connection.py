"""A connection to a supervisor: the local socket, or a byte stream to another machine.

An `Address` opens connections; a `Connection` is used for one request. The caller passes the
addresses of other machines, so this module starts no process. Imports only the standard library,
`core` and small modules, because the commands that must start quickly use this module.
"""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Protocol

from cockpit.client.refusals import lost, silent
from cockpit.client.supervisor_lock import no_listener
from cockpit.core.errors import CockpitError

BEAT = 10
"""Seconds between keepalive messages from another machine."""


class Connection(Protocol):
    """A connection to a supervisor, for one request. The code that opened the connection closes
    it."""

    @property
    def channel(self) -> socket.socket:
        """A connected, blocking stream socket."""

    @property
    def slow_to_end(self) -> bool:
        """Whether `end` and `broken` may block and therefore need a thread."""

    def broken(self, received: bytes = b"") -> CockpitError:
        """Return the error for a response that ended too early or is not HTTP."""

    def silent(self, seconds: float) -> CockpitError:
        """Return the error for a response that did not arrive within this number of seconds."""

    def end(self) -> None:
        """Close the connection, and end a process that only this connection uses. Idempotent."""


class Address(Protocol):
    """The address of another machine's supervisor."""

    @property
    def name(self) -> str:
        """The user's name for the machine."""

    @property
    def remark(self) -> str:
        """A message for the user about connections to this address; usually empty."""

    def dial(self) -> Connection:
        """Return a new connection, which can still fail when it is first used. Does not block.

        Raises `ProgramMissing` and `Failed` if the program that connects cannot be started.
        """


class SocketConnection:
    """A connection to the unix socket of a local supervisor."""

    slow_to_end = False

    def __init__(self, path: Path, channel: socket.socket) -> None:
        self._path = path
        self.channel = channel

    def broken(self, received: bytes = b"") -> CockpitError:
        return lost(self._path)

    def silent(self, seconds: float) -> CockpitError:
        return silent(self._path, seconds)

    def end(self) -> None:
        self.channel.close()


def connect_to(address: Path | Address, patience: float) -> Connection:
    """Connect to a socket path, or to another machine; `patience` limits each wait, in seconds.

    Raises `NoSupervisor` when nothing listens on the socket or the connection takes too long, and
    the errors of `Address.dial`.
    """
    if not isinstance(address, Path):
        connection = address.dial()
        connection.channel.settimeout(patience)
        return connection
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    channel.settimeout(patience)
    try:
        channel.connect(str(address))
    except TimeoutError:
        channel.close()
        raise silent(address, patience) from None
    except OSError:
        channel.close()
        raise no_listener(address) from None
    return SocketConnection(address, channel)
