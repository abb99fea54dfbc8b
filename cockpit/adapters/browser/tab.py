"""Run one browser tab as a terminal: connect textual-serve's protocol on stdin and stdout to a
pseudo-terminal.

The program is a tmux client, so a tab has the same screen, keys and agents' panes as any other
terminal. The program ends with the tab, and the tab ends with the program.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import signal
import struct
import termios
from collections.abc import Iterator, Mapping, Sequence

from cockpit.adapters.process.exits import wait_for_exit

READY = b"__GANGLION__\n"
"""The first line that textual-serve expects from the program."""
LONGEST = 1 << 20
"""Maximum bytes of one packet; pasted text comes as one packet."""
PATIENCE = 1.0
"""Seconds within which the program must exit after its terminal is closed."""
_CHUNK = 65_536
_HEADER = 5


def run(argv: Sequence[str], environment: Mapping[str, str], size: tuple[int, int]) -> int:
    """Run the program until the program or the tab ends; return the exit code. `size`: columns,
    rows."""
    os.write(1, READY)
    pid, terminal = pty.fork()
    if not pid:
        _resize(0, *size)
        os.execvpe(argv[0], list(argv), dict(environment))
    try:
        _copy_both_ways(terminal)
    finally:
        os.close(terminal)  # the program gets a hangup
        code = _wait_for_exit(pid)
    return code


def packet(kind: bytes, payload: bytes) -> bytes:
    """Return a packet: `D` for data, `M` for a message in JSON."""
    return kind + len(payload).to_bytes(4, "big") + payload


class Packets:
    """Splits a stream into packets."""

    def __init__(self) -> None:
        self._held = b""

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield complete packets. Raises `ValueError` for a packet that is too long."""
        self._held += data
        while len(self._held) >= _HEADER:
            length = int.from_bytes(self._held[1:_HEADER], "big")
            if length > LONGEST:
                raise ValueError(f"a packet of {length} bytes")
            if len(self._held) < _HEADER + length:
                return
            whole, self._held = self._held[: _HEADER + length], self._held[_HEADER + length :]
            yield whole[:1], whole[_HEADER:]


def _wait_for_exit(pid: int) -> int:
    """Return the child's exit code. Kills the child if it ignores SIGHUP."""
    if not wait_for_exit(pid, PATIENCE):
        os.kill(pid, signal.SIGKILL)  # the pid is not reused until the child is waited for
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _copy_both_ways(terminal: int) -> None:
    packets = Packets()
    while True:
        ready, _, _ = select.select([0, terminal], [], [])
        if terminal in ready and not _from_program(terminal):
            return
        if 0 in ready and not _from_tab(packets, terminal):
            return


def _from_program(terminal: int) -> bool:
    try:
        data = os.read(terminal, _CHUNK)
    except OSError:
        data = b""  # EIO: no process has the terminal open
    _send(packet(b"D", data) if data else packet(b"M", b'{"type": "exit"}'))
    return bool(data)


def _from_tab(packets: Packets, terminal: int) -> bool:
    data = os.read(0, _CHUNK)
    if not data:
        return False
    for kind, payload in packets.feed(data):
        if kind == b"D":
            _write(terminal, payload)
        elif kind == b"M" and not _handle_message(json.loads(payload), terminal):
            return False
    return True


def _handle_message(message: Mapping[str, object], terminal: int) -> bool:
    if message.get("type") == "resize":
        columns, rows = message.get("width"), message.get("height")
        if isinstance(columns, int) and isinstance(rows, int):
            _resize(terminal, columns, rows)
    return message.get("type") != "quit"


def _resize(terminal: int, columns: int, rows: int) -> None:
    size = struct.pack("HHHH", min(max(rows, 1), 1000), min(max(columns, 1), 1000), 0, 0)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, size)


def _send(data: bytes) -> None:
    try:
        _write(1, data)
    except BrokenPipeError:
        return  # the server has ended; stdin is closed next


def _write(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]
