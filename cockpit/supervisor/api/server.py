"""The HTTP server: uvicorn, with the socket and the checks of callers that cockpit needs."""

from __future__ import annotations

import asyncio
import socket

import uvicorn
from starlette.applications import Starlette

from cockpit.supervisor.api.connections import UserOnly


async def accept_on(serving: uvicorn.Server, listener: socket.socket) -> None:
    """Make a running server accept on this socket instead of its earlier ones.

    Open connections continue. Does what `uvicorn.Server.startup` does for its own sockets.
    """
    config = serving.config

    def protocol() -> asyncio.Protocol:
        return UserOnly(
            config=config, server_state=serving.server_state, app_state=serving.lifespan.state
        )

    loop = asyncio.get_running_loop()
    new = await loop.create_server(protocol, sock=listener, backlog=config.backlog)
    before, serving.servers = serving.servers, [new]
    for earlier in before:
        earlier.close()


class QuietServer(uvicorn.Server):
    """A server that sleeps between requests; uvicorn's own loop wakes up ten times a second."""

    def __init__(self, config: uvicorn.Config) -> None:
        self._ended = asyncio.Event()
        super().__init__(config)

    @property
    def should_exit(self) -> bool:
        return self._ended.is_set()

    @should_exit.setter
    def should_exit(self, value: bool) -> None:
        if value:
            self._ended.set()
        else:
            self._ended.clear()

    async def main_loop(self) -> None:
        await self.on_tick(0)  # sets the headers of all responses
        await self._ended.wait()


def server(app: Starlette) -> uvicorn.Server:
    """Return a server that leaves signals, logging and process exit to its caller."""
    config = uvicorn.Config(
        app,
        http=UserOnly,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=1,
        server_header=False,
        date_header=False,
    )
    return QuietServer(config)
