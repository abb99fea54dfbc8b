"""One raw request to the supervisor's socket, for commands that must start quickly.

Imports only small modules, because commands such as `cockpit status` and `cockpit attach` do not
load click, pydantic or asyncio. The complete client is `http.py`. Uses HTTP/1.0, so that responses
are never chunked.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

from cockpit.client.connection import Address, Connection, connect_to
from cockpit.client.refusals import refusal
from cockpit.config.this_user import this_user
from cockpit.core.actors import HEADER
from cockpit.core.errors import Failed, NoSupervisor

_BLOCK = 65536
_HTTP = b"HTTP/1."
_LONGEST_HEAD = 65536
_LONGEST_BODY = 64 * 1024 * 1024
"""Maximum bytes of a response, or of a line of a stream: another machine may send data forever."""
_SLOWEST = 6.0
"""Maximum duration of a whole response, as a multiple of `patience`."""
_SLOWEST_HEAD, _SLOWEST_LINE = 2.0, 2.0
"""Maximum duration of a response's status line and headers, as a multiple of `patience`, and of a
stream's line, as a multiple of `silence`. Without these limits, a machine that sends one byte at a
time could keep a request open forever."""


class _TooLong(Exception):
    """The response, or a line of a stream, is too long."""


def fetch(
    address: Path | Address,
    target: str,
    *,
    body: dict[str, Any] | None = None,
    patience: float = 10.0,
) -> bytes:
    """Return the body of the response to `GET target`, or to `POST target` if `body` is set.

    `patience` limits each read, in seconds. Raises the supervisor's error, `NoSupervisor` when
    nothing answers or the connection is lost, and `Failed` for a response that is too long.
    """
    connection = connect_to(address, patience)
    try:
        head, rest = _begin(connection, target, body, patience)
        length = _length(head)
        blocks = [rest, *_blocks(connection.channel, until=monotonic() + _SLOWEST * patience)]
    except _TooLong:
        raise _refused(address) from None
    except TimeoutError:
        raise connection.silent(patience) from None
    except OSError:
        raise connection.broken() from None
    finally:
        connection.end()
    answer = b"".join(blocks)
    if length is not None and len(answer) < length:
        raise connection.broken()
    if (status := _status(head)) != 200:
        raise refusal(status, answer, _host(address))
    return answer


def lines(
    address: Path | Address, target: str, *, patience: float = 10.0, silence: float | None = None
) -> Iterator[bytes]:
    """Yield each line of a stream from the supervisor; raise `NoSupervisor` when the stream ends.

    `patience` limits the wait for the response, and `silence` the wait for each line, in seconds;
    None: no limit.
    """
    connection = connect_to(address, patience)
    try:
        head, held = _begin(connection, target, None, patience)
        if (status := _status(head)) != 200:
            rest = _blocks(connection.channel, until=monotonic() + _SLOWEST * patience)
            raise refusal(status, held + b"".join(rest), _host(address))
        connection.channel.settimeout(silence)
        begun = monotonic()
        while True:
            *whole, held = held.split(b"\n")
            yield from (line for line in whole if line.strip())
            if whole:
                begun = monotonic()
            block = connection.channel.recv(_BLOCK)
            if not block:
                raise connection.broken()
            if silence is not None and monotonic() - begun > _SLOWEST_LINE * silence:
                raise TimeoutError
            held += block
            if len(held) > _LONGEST_BODY:
                raise _TooLong
    except _TooLong:
        raise _refused(address) from None
    except TimeoutError:
        raise connection.silent(silence or patience) from None
    except OSError:
        raise connection.broken() from None
    finally:
        connection.end()


def connect(path: Path, patience: float = 10.0) -> socket.socket:
    """Return a connected socket to the supervisor, for a caller that does not use HTTP."""
    return connect_to(path, patience).channel


def is_listening(path: Path) -> bool:
    """Return whether something accepts connections on the supervisor's socket."""
    try:
        connect(path).close()
    except NoSupervisor:
        return False
    return True


def _begin(
    connection: Connection, target: str, body: dict[str, Any] | None, patience: float
) -> tuple[bytes, bytes]:
    """Send the request; return status line and headers, and the part of the body read with them."""
    received = bytearray()
    try:
        connection.channel.sendall(_request(target, body))
        return _head(connection, received, monotonic() + _SLOWEST_HEAD * patience)
    except TimeoutError:
        if noise := _noise(received):
            raise connection.broken(noise) from None
        raise connection.silent(patience) from None


def _request(target: str, body: dict[str, Any] | None) -> bytes:
    method = "GET" if body is None else "POST"
    content = b"" if body is None else json.dumps(body).encode()
    head = (
        f"{method} {target} HTTP/1.0\r\nHost: cockpit\r\n{HEADER}: {this_user()}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode("ascii") + content


def _head(connection: Connection, received: bytearray, until: float) -> tuple[bytes, bytes]:
    """Return the status line with the headers, and the part of the body read with them.

    Skips text before the status line, which a shell's start-up file may print on another machine.
    Adds all bytes that arrive to `received`.
    """
    while True:
        block = connection.channel.recv(_BLOCK)
        if not block:
            raise connection.broken(_noise(received))
        received += block
        start = received.find(_HTTP)
        if start >= 0:
            head, end, rest = bytes(received[start:]).partition(b"\r\n\r\n")
            if end:
                return head, rest
        if len(received) > _LONGEST_HEAD:
            raise connection.broken(_noise(received)) if start < 0 else _TooLong
        if monotonic() > until:
            raise TimeoutError


def _noise(received: bytearray) -> bytes:
    """Return the bytes that arrived instead of a response; empty if a response has begun."""
    return b"" if _HTTP in received else bytes(received)


def _blocks(channel: socket.socket, until: float) -> Iterator[bytes]:
    size = 0
    while block := channel.recv(_BLOCK):
        size += len(block)
        if size > _LONGEST_BODY:
            raise _TooLong
        if monotonic() > until:
            raise TimeoutError
        yield block


def _host(address: Path | Address) -> str | None:
    return None if isinstance(address, Path) else address.name


def _refused(address: Path | Address) -> Failed:
    where, on, options = (
        ("", " on the socket", "")
        if isinstance(address, Path)
        else (f" of {address.name}", f" on {address.name}", f" --host {address.name}")
    )
    return Failed(
        f"Refused an answer{where} that is too long",
        "A supervisor's answers are shorter.",
        f"Check which program answers{on}: cockpit doctor{options}",
    )


def _status(head: bytes) -> int:
    fields = head.split(b"\r\n", 1)[0].split()
    return int(fields[1]) if len(fields) > 1 and fields[1].isdigit() else 0


def _length(head: bytes) -> int | None:
    for header in head.split(b"\r\n")[1:]:
        name, _, value = header.partition(b":")
        if name.strip().lower() == b"content-length":
            return int(value) if value.strip().isdigit() and len(value) < 20 else None
    return None
