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

from cockpit.client.refusals import lost, nobody, refusal, silent

_BLOCK = 65536


def fetch(
    path: Path, target: str, *, body: dict[str, Any] | None = None, patience: float = 10.0
) -> bytes:
    """The body of the answer to `GET target`, or to `POST target` when there is a body to send.

    `patience` is in seconds, for each read. Raises what the supervisor refused with, and
    `NoSupervisor` when nobody answers or the answer breaks off.
    """
    with connect(path, patience) as channel:
        try:
            channel.sendall(_request(target, body))
            head, rest = _head(channel, path)
            length = _length(head)
            blocks = [rest, *_blocks(channel)]
        except TimeoutError:
            raise silent(path, patience) from None
        except OSError:
            raise lost(path) from None
    answer = b"".join(blocks)
    if length is not None and len(answer) < length:
        raise lost(path)
    if (status := _status(head)) != 200:
        raise refusal(status, answer)
    return answer


def lines(path: Path, target: str, *, patience: float = 10.0) -> Iterator[bytes]:
    """Each line of a stream that the supervisor pushes, until it goes away.

    `patience` is in seconds, for the beginning of the answer only; a line may take for ever.
    """
    with connect(path, patience) as channel:
        try:
            channel.sendall(_request(target, None))
            head, held = _head(channel, path)
        except TimeoutError:
            raise silent(path, patience) from None
        if (status := _status(head)) != 200:
            raise refusal(status, held + b"".join(_blocks(channel)))
        channel.settimeout(None)
        while True:
            *whole, held = held.split(b"\n")
            yield from (line for line in whole if line.strip())
            block = channel.recv(_BLOCK)
            if not block:
                return
            held += block


def connect(path: Path, patience: float = 10.0) -> socket.socket:
    """A connection to the supervisor's socket, for whoever speaks on it himself."""
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    channel.settimeout(patience)
    try:
        channel.connect(str(path))
    except TimeoutError:
        channel.close()
        raise silent(path, patience) from None
    except OSError:
        channel.close()
        raise nobody(path) from None
    return channel


def _request(target: str, body: dict[str, Any] | None) -> bytes:
    method = "GET" if body is None else "POST"
    content = b"" if body is None else json.dumps(body).encode()
    head = (
        f"{method} {target} HTTP/1.0\r\nHost: cockpit\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode("ascii") + content


def _head(channel: socket.socket, path: Path) -> tuple[bytes, bytes]:
    """The status line with the headers, and what of the body came along with them."""
    held = b""
    while b"\r\n\r\n" not in held:
        block = channel.recv(_BLOCK)
        if not block:
            raise lost(path)
        held += block
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
