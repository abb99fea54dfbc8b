"""One raw request to the supervisor's socket, for commands that must start quickly.

Uses only cheap parts of the standard library: `cockpit status` and attaching run this before click,
pydantic or asyncio are imported. It knows no verbs or models; `http.py` does. It speaks HTTP/1.0,
so that answers are never chunked.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cockpit.client.line import Line, Way, line_to
from cockpit.client.refusals import refusal

_BLOCK = 65536
_HTTP = b"HTTP/1."


def fetch(
    way: Path | Way, target: str, *, body: dict[str, Any] | None = None, patience: float = 10.0
) -> bytes:
    """Return the body of the answer to `GET target`, or to `POST target` with a body.

    `patience` limits each read, in seconds. Raises the supervisor's error, and `NoSupervisor` when
    nothing answers or the connection is lost.
    """
    line = line_to(way, patience)
    try:
        head, rest = _begin(line, target, body, patience)
        length = _length(head)
        blocks = [rest, *_blocks(line.channel)]
    except TimeoutError:
        raise line.silent(patience) from None
    except OSError:
        raise line.broken() from None
    finally:
        line.end()
    answer = b"".join(blocks)
    if length is not None and len(answer) < length:
        raise line.broken()
    if (status := _status(head)) != 200:
        raise refusal(status, answer)
    return answer


def lines(
    way: Path | Way, target: str, *, patience: float = 10.0, silence: float | None = None
) -> Iterator[bytes]:
    """Yield each line of a stream from the supervisor; ends with `NoSupervisor` when it ends.

    `patience` limits the start of the answer, in seconds; lines may take any time, or at most
    `silence`.
    """
    line = line_to(way, patience)
    try:
        head, held = _begin(line, target, None, patience)
        if (status := _status(head)) != 200:
            raise refusal(status, held + b"".join(_blocks(line.channel)))
        line.channel.settimeout(silence)
        while True:
            *whole, held = held.split(b"\n")
            yield from (one for one in whole if one.strip())
            block = line.channel.recv(_BLOCK)
            if not block:
                raise line.broken()
            held += block
    except TimeoutError:
        raise line.silent(silence or patience) from None
    except OSError:
        raise line.broken() from None
    finally:
        line.end()


def connect(path: Path, patience: float = 10.0) -> socket.socket:
    """Return a connection to the supervisor's socket, for a caller with its own protocol."""
    return line_to(path, patience).channel


def _begin(
    line: Line, target: str, body: dict[str, Any] | None, patience: float
) -> tuple[bytes, bytes]:
    """Send the request; return the head of the answer, and the part of the body read with it."""
    try:
        line.channel.sendall(_request(target, body))
        return _head(line)
    except TimeoutError:
        raise line.silent(patience) from None


def _request(target: str, body: dict[str, Any] | None) -> bytes:
    method = "GET" if body is None else "POST"
    content = b"" if body is None else json.dumps(body).encode()
    head = (
        f"{method} {target} HTTP/1.0\r\nHost: cockpit\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode("ascii") + content


def _head(line: Line) -> tuple[bytes, bytes]:
    """Return the status line with the headers, and the part of the body read with them."""
    held = b""
    while b"\r\n\r\n" not in held:
        block = line.channel.recv(_BLOCK)
        if not block:
            raise line.broken(held)
        held += block
        if not held.startswith(_HTTP[: len(held)]):
            raise line.broken(held)
    head, _, rest = held.partition(b"\r\n\r\n")
    return head, rest


def _blocks(channel: socket.socket) -> Iterator[bytes]:
    while block := channel.recv(_BLOCK):
        yield block


def _status(head: bytes) -> int:
    words = head.split(b"\r\n", 1)[0].split()
    return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0


def _length(head: bytes) -> int | None:
    for header in head.split(b"\r\n")[1:]:
        name, _, value = header.partition(b":")
        if name.strip().lower() == b"content-length":
            return int(value)
    return None
