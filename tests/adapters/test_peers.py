"""The process at the other end of a socket is read as each system tells it."""

from __future__ import annotations

import os
import socket
import struct
import sys

import pytest

from cockpit.adapters.process.peers import Peer, macos_peer, peer_of


class MacSocket:
    """The answers of macOS, in the layout of its `struct xucred`."""

    def getsockopt(self, level: int, option: int, size: int = 0) -> bytes | int:
        assert level == 0
        if option == 2:
            return 812
        groups = struct.pack("=16I", 20, *[0] * 15)
        credentials = struct.pack("=IIhxx", 0, 501, 1) + groups
        assert (option, size) == (1, len(credentials))
        return credentials


def test_credentials_of_macos_are_read() -> None:
    assert macos_peer(MacSocket()) == Peer(812, 501)


@pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="systems that tell the peer")
def test_the_peer_is_told() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert peer_of(ours) == Peer(os.getpid(), os.geteuid())
