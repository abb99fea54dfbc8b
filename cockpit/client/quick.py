"""One raw request on the supervisor's socket, for commands that must answer at once.

Standard library only, and of that only what is cheap to import: `cockpit status` and attaching
come through here before click, pydantic or asyncio would even be loaded. It knows no verbs and
no models; `http.py` does. It speaks HTTP/1.0, so that no answer is ever chunked.
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
    """The body of the answer to `GET target`, or to `POST target` when there is a body to send.

    `patience` is in seconds, for each read. Raises what the supervisor refused with, and
    `NoSupervisor` when nobody answers or the answer breaks off.
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
    """Each line of a stream that the supervisor pushes; ends with `NoSupervisor` when that goes.

    `patience` is in seconds, for the beginning of the answer only; a line may take for ever, or
    as long as `silence`.
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
    """A connection to the supervisor's socket, for whoever speaks on it himself."""
    return line_to(path, patience).channel


def _begin(
    line: Line, target: str, body: dict[str, Any] | None, patience: float
) -> tuple[bytes, bytes]:
    """Send the request; the head of the answer, and what of the body came along with it."""
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
    """The status line with the headers, and what of the body came along with them."""
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
