"""Out of descriptors, the supervisor rests in place of trying thousands of times a second."""

from __future__ import annotations

import asyncio
import os
import resource
from pathlib import Path
from typing import Any

from cockpit.adapters.process.descriptors import out_of_descriptors
from cockpit.supervisor.api.listener import bind, log_once


async def test_a_process_without_descriptors_tries_once_and_then_rests(own_home: Path) -> None:
    loop = asyncio.get_running_loop()
    told: list[dict[str, Any]] = []
    loop.set_exception_handler(lambda _, context: told.append(context))
    listener = bind(own_home / "s")
    served = await loop.create_server(asyncio.Protocol, sock=listener, backlog=2048)
    client = await asyncio.open_unix_connection(str(own_home / "s"))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    spare = os.open(os.devnull, os.O_RDONLY)
    os.close(spare)
    other = await _waiting(own_home / "s")
    resource.setrlimit(resource.RLIMIT_NOFILE, (other.fileno() + 1, hard))
    try:
        for _ in range(100):
            await asyncio.sleep(0)
        assert out_of_descriptors()
        assert len(told) == 1
        assert listener.exhausted
        log_once(loop, told[0])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    while listener.exhausted:
        await asyncio.sleep(0.01)
    assert not out_of_descriptors()
    other.close()
    client[1].close()
    served.close()
    listener.close()


async def _waiting(path: Path) -> Any:
    """A connection that nobody has accepted yet."""
    import socket

    waiting = socket.socket(socket.AF_UNIX)
    waiting.connect(str(path))
    return waiting
