"""`cockpit dial-stdio`: connect stdin and stdout to the supervisor's socket.

A client runs this command on a host, usually through ssh. Bytes are copied unchanged. With
`--multiplex`, stdin and stdout carry several connections: to the supervisor, and to steps of a
move.
"""

from __future__ import annotations

import os
import select
import socket
import sys

from cockpit.cli.output import print_error
from cockpit.cli.places import our_places
from cockpit.client.raw_request import connect
from cockpit.core.errors import DIAL_UNREACHABLE, CockpitError, Failed, Unreachable

_BLOCK = 65536
_CONNECT_SECONDS = 2.0
"""Maximum seconds to connect to the supervisor; all other streams wait meanwhile."""


def dial() -> int:
    """Copy stdin to the supervisor and its answers to stdout; return the exit code.

    Returns when the supervisor closes the connection.

    Raises `NoSupervisor` if no supervisor is running. If one is running but cannot be reached,
    prints the error and returns `DIAL_UNREACHABLE`.
    """
    try:
        channel = connect(our_places().socket)
    except Unreachable as error:
        print_error(error)
        return DIAL_UNREACHABLE
    with channel:
        channel.settimeout(None)
        copy_both_ways(channel, sys.stdin.fileno(), sys.stdout.fileno())
    return 0


def dial_multiplexed() -> int:
    """For each stream of the client, connect to the supervisor or start a step of a move.

    Returns the exit code when the client closes stdin.

    Raises `Failed` if the client does not follow the protocol.
    """
    from cockpit.adapters.multiplex_pump import Pump
    from cockpit.core.multiplex import STEP, Multiplexer, Violation

    path = our_places().socket

    def opened(stream: int, purpose: bytes) -> None:
        try:
            if purpose == STEP:
                channel = start_step()
            elif not purpose:
                channel = connect(path, _CONNECT_SECONDS)
            else:
                raise Failed(
                    "The host's cockpit does not support this request",
                    "The host's cockpit is an older version than the client's.",
                    "Upgrade cockpit on the host: cockpit hosts install HOST",
                )
        except CockpitError as error:
            lines = "\n".join(filter(None, (error.title, *error.detail.splitlines()[:1])))
            code = DIAL_UNREACHABLE if isinstance(error, Unreachable) else error.exit_code
            pump.cut(stream, code, lines)
        else:
            pump.join(stream, channel)

    source, sink = sys.stdin.fileno(), sys.stdout.fileno()
    pump = Pump(Multiplexer(opens=False), source, sink, opened=opened)
    try:
        with pump.unblocked():
            while pump.turn() is not None:
                pass
    except BrokenPipeError:
        return 0  # the client has disconnected
    except Violation as error:
        raise Failed(
            "The client sent invalid data",
            str(error),
            "cockpit itself runs `cockpit dial-stdio --multiplex`; do not type into it.",
        ) from error
    finally:
        pump.close()
    return 0


def start_step() -> socket.socket:
    """Start `cockpit move-step`; return its stdin and stdout as one socket.

    The step ends when the socket is closed. Raises `Failed` if the step cannot be started.
    """
    import subprocess

    ours, theirs = socket.socketpair()
    with theirs:
        try:
            subprocess.Popen(
                [sys.executable, "-P", "-m", "cockpit", "move-step"],
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            ours.close()
            raise Failed(
                "A step of the move did not start", str(error), "Check this machine: cockpit doctor"
            ) from error
    return ours


def copy_both_ways(channel: socket.socket, source: int, sink: int) -> None:
    """Copy `source` to the channel and the channel to `sink`, until the channel is closed.

    At the end of `source`, shuts down only the sending side of the channel, so that the response
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
