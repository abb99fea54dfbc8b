"""The process at the other end of a socket is read as each system tells it."""

from __future__ import annotations

import errno
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from cockpit.adapters.process.peers import Peer, macos_peer, peer_of, while_alive


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


def _connected(listening: socket.socket, path: str, program: str) -> subprocess.Popen[bytes]:
    """A process that connected, and then ran the rest of this program."""
    connect = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n"
    return subprocess.Popen(
        [sys.executable, "-c", connect + program, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="a handle of the peer is Linux's")
def test_a_process_that_has_ended_is_not_taken_for_a_later_one_with_its_pid(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        child = _connected(listening, path, "print('up', flush=True); sys.stdin.read()")
        assert child.stdin
        assert child.stdout
        child.stdout.readline()
        accepted, _ = listening.accept()
        with accepted:
            try:
                os.close(accepted.getsockopt(socket.SOL_SOCKET, 77))
            except OSError:
                child.communicate()
                pytest.skip("the kernel has no handle of the peer")
            before = len(list(Path("/proc/self/fd").iterdir()))
            assert while_alive(accepted, lambda: [child.pid]) == [child.pid]
            child.communicate()
            assert while_alive(accepted, lambda: [child.pid]) is None
            assert len(list(Path("/proc/self/fd").iterdir())) == before - 2  # the child's pipes


@pytest.mark.skipif(sys.platform != "linux", reason="a handle of the peer is Linux's")
@pytest.mark.parametrize(
    ("code", "found"),
    [(errno.ENOPROTOOPT, 7), (errno.EMFILE, 7), (errno.ESRCH, None), (errno.EINVAL, None)],
)
def test_without_a_handle_the_process_table_decides(code: int, found: int | None) -> None:
    class Refusing:
        def getsockopt(self, level: int, option: int, size: int = 0) -> bytes | int:
            raise OSError(code, os.strerror(code))

    assert while_alive(Refusing(), lambda: 7) == found
