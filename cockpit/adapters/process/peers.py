"""Identify the process at the other end of a unix socket."""

from __future__ import annotations

import socket
import struct
from typing import NamedTuple

_CREDENTIALS = struct.Struct("3i")
"""`struct ucred` of Linux: pid, uid, gid."""


class Peer(NamedTuple):
    """The process that connected, or that listens."""

    pid: int
    """0 for a process of another pid namespace."""
    uid: int


def peer_of(connected: socket.socket) -> Peer:
    """Return the peer at the time of connecting; it may have ended since. Raises `OSError`."""
    raw = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _ = _CREDENTIALS.unpack(raw)
    return Peer(pid, uid)
