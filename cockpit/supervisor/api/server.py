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
    return uvicorn.Server(config)
