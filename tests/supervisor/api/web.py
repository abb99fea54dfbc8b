"""The API of a supervisor behind the gateway of `cockpit serve`, in the test's process."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from cockpit.adapters.browser.access import AccessCheck
from cockpit.adapters.browser.gateway import Gateway
from cockpit.adapters.browser.server import Browser
from cockpit.client.relay import Relay
from cockpit.wire.openapi import document


@asynccontextmanager
async def gateway(socket: Path, *, write: bool = True) -> AsyncIterator[tuple[str, str]]:
    """Its address, and its token."""

    def api(access: AccessCheck) -> Gateway:
        description = json.dumps(document(served=True)).encode()
        return Gateway(access, Relay(socket), description, write=write)

    server = Browser(["true"], "cockpit", "127.0.0.1", 0, api)
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    running = asyncio.create_task(server.run(address.set_result))
    try:
        yield (await address).partition("/?")[0], server.access.api_token
    finally:
        os.kill(os.getpid(), signal.SIGTERM)
        await running
