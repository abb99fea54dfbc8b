"""What a supervisor's streams say, each line with the moment at which it came."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from tests.bench.flights import PATIENCE, SOCKET


@contextmanager
def listening(target: str, take: Callable[[dict[str, Any], float], None]) -> Iterator[None]:
    """Hand each line of a stream over with the moment at which it came."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(str(SOCKET))
    connection.sendall(f"GET {target} HTTP/1.0\r\n\r\n".encode())
    ready = threading.Event()

    def listen() -> None:
        with connection.makefile("rb") as lines, suppress(OSError, ValueError):
            for raw in lines:
                at = time.monotonic()
                ready.set()
                if raw.startswith(b"{"):
                    take(json.loads(raw), at)

    thread = threading.Thread(target=listen)
    thread.start()
    ready.wait(PATIENCE)
    try:
        yield
    finally:
        connection.shutdown(socket.SHUT_RDWR)
        thread.join()
        connection.close()


def watching(take: Callable[[dict[str, Any], float], None]) -> Any:
    return listening("/v1/watch", take)


def following(moments: dict[str, float]) -> Any:
    """Note when each kind of event first came."""

    def note(event: dict[str, Any], at: float) -> None:
        moments.setdefault(event["kind"], at)

    return listening("/v1/events?follow=1", note)
