"""Identify the process at the other end of a unix socket."""

from __future__ import annotations

import socket
import struct
import sys
from typing import Any, NamedTuple, Protocol

_LINUX_CREDENTIALS = struct.Struct("3i")
"""`struct ucred`: pid, uid, gid."""

# From macOS's <sys/un.h>; Python's socket module has no names for them.
_SOL_LOCAL, _LOCAL_PEERCRED, _LOCAL_PEERPID = 0, 1, 2
_MACOS_CREDENTIALS = struct.Struct("IIh16I")
"""`struct xucred`: version, uid, number of groups, groups."""


class Peer(NamedTuple):
    """The process that connected, or that listens."""

    pid: int
    """0 for a process of another pid namespace."""
    uid: int


class SocketOptions(Protocol):
    """The part of a socket that is asked."""

    def getsockopt(self, level: int, option: int, size: int = 0, /) -> Any: ...


def peer_of(connected: socket.socket) -> Peer:
    """Return the peer at the time of connecting; it may have ended since. Raises `OSError`."""
    if sys.platform == "darwin":
        return macos_peer(connected)
    raw = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _LINUX_CREDENTIALS.size)
    pid, uid, _ = _LINUX_CREDENTIALS.unpack(raw)
    return Peer(pid, uid)


def macos_peer(connected: SocketOptions) -> Peer:
    """Return the peer as macOS tells it. Raises `OSError`, also for one that has hung up."""
    raw = connected.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _MACOS_CREDENTIALS.size)
    _, uid, *_ = _MACOS_CREDENTIALS.unpack(raw)
    return Peer(connected.getsockopt(_SOL_LOCAL, _LOCAL_PEERPID), uid)
