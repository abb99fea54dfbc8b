"""Identify the process at the other end of a unix socket."""

from __future__ import annotations

import errno
import os
import select
import socket
import struct
import sys
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

_LINUX_CREDENTIALS = struct.Struct("3i")
"""`struct ucred`: pid, uid, gid."""
_SO_PEERPIDFD = 77
"""The socket option for the peer's pidfd (since Linux 6.5). Python's socket module lacks it."""
_ENDED = {errno.ESRCH, errno.EINVAL}
"""Errors of `_SO_PEERPIDFD` for a process that has ended, before Linux 6.16."""

_Found = TypeVar("_Found")

# From macOS's <sys/un.h>; Python's socket module has no names for them.
_SOL_LOCAL, _LOCAL_PEERCRED, _LOCAL_PEERPID = 0, 1, 2
_MACOS_CREDENTIALS = struct.Struct("IIh16I")
"""`struct xucred`: version, uid, number of groups, groups."""


class Peer(NamedTuple):
    """The process at the other end of a unix socket."""

    pid: int
    """The process's pid; 0 if the process is in another pid namespace."""
    uid: int


class SocketOptions(Protocol):
    """The method of a socket that `macos_peer` needs."""

    def getsockopt(self, level: int, option: int, size: int = 0, /) -> Any: ...


def peer_of(connected: socket.socket) -> Peer:
    """Return the process that made the connection, which may have ended since. Raises `OSError`."""
    if sys.platform == "darwin":
        return macos_peer(connected)
    raw = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _LINUX_CREDENTIALS.size)
    pid, uid, _ = _LINUX_CREDENTIALS.unpack(raw)
    return Peer(pid, uid)


def macos_peer(connected: SocketOptions) -> Peer:
    """Return the peer that macOS reports. Raises `OSError`, including for a peer that has
    disconnected."""
    raw = connected.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _MACOS_CREDENTIALS.size)
    _, uid, *_ = _MACOS_CREDENTIALS.unpack(raw)
    return Peer(connected.getsockopt(_SOL_LOCAL, _LOCAL_PEERPID), uid)


def while_alive(
    connected: socket.socket | SocketOptions, look: Callable[[], _Found]
) -> _Found | None:
    """Return the result of `look` for the peer; None if the process that connected has ended.

    The peer's pid may have been reused. Linux 6.5 and newer have a pidfd of the process that
    connected; without a pidfd, the result may be that of another process.
    """
    if sys.platform != "linux":
        return look()
    try:
        handle: int = connected.getsockopt(socket.SOL_SOCKET, _SO_PEERPIDFD)
    except OSError as refused:
        return None if refused.errno in _ENDED else look()
    try:
        result = look()
        waiting = select.poll()
        waiting.register(handle, select.POLLIN)
        return None if waiting.poll(0) else result
    finally:
        os.close(handle)
