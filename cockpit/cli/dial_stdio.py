"""`cockpit dial-stdio`: connect standard input and output to the supervisor's socket.

`ssh` runs this on a remote host. It copies bytes and does not interpret them.
"""

from __future__ import annotations

import os
import select
import socket
import sys

from cockpit.cli.places import our_places
from cockpit.client.raw_request import connect

_BLOCK = 65536


def dial() -> int:
    """Copy in both directions until the supervisor closes the connection; return the exit code.

    Raises `NoSupervisor`.
    """
    with connect(our_places().socket) as channel:
        channel.settimeout(None)
        copy_both_ways(channel, sys.stdin.fileno(), sys.stdout.fileno())
    return 0


def copy_both_ways(channel: socket.socket, source: int, sink: int) -> None:
    """Copy `source` to the channel and the channel to `sink`, until the channel is closed.

    At the end of `source`, only the sending half of the channel is closed, so that the response
    still arrives.
    """
    readers: list[int] = [channel.fileno(), source]
    while True:
        ready, _, _ = select.select(readers, [], [])
        if source in ready:
            block = os.read(source, _BLOCK)
            if block:
                channel.sendall(block)
            else:
                readers.remove(source)
                channel.shutdown(socket.SHUT_WR)
        if channel.fileno() in ready:
            block = channel.recv(_BLOCK)
            if not block:
                return
            _write(sink, block)


def _write(sink: int, block: bytes) -> None:
    while block:
        block = block[os.write(sink, block) :]
