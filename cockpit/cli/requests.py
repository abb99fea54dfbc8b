"""Send requests to the supervisor (local, or remote with `--host`) and print its answers.

The HTTP client is imported on first use, because most callers only need the chosen host.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from cockpit.cli.options import LOCAL, CommonOptions, common_options
from cockpit.cli.places import our_places
from cockpit.client.connection import Address
from cockpit.core.errors import BadUsage

if TYPE_CHECKING:
    from cockpit.adapters.remote_host import RemoteHost
    from cockpit.client.http import HttpClient
    from cockpit.wire.verbs import Done, Verb

Answer = TypeVar("Answer")


def ask(verb: Verb) -> Done:
    """Send one request and print the supervisor's message on stderr."""
    from cockpit.cli.output import say

    done = with_client(lambda client: client.ask(verb))
    say(done.message)
    return done


def with_client(question: Callable[[HttpClient], Awaitable[Answer]]) -> Answer:
    """Run `question` with a client of the chosen supervisor. Raises `NoSupervisor`."""
    import asyncio

    from cockpit.client.http import HttpClient

    client = HttpClient(supervisor_address())

    async def call() -> Answer:
        return await question(client)

    return asyncio.run(call())


def supervisor_address(options: CommonOptions | None = None) -> Path | Address:
    """Return the address of the chosen supervisor. Raises `BadUsage` and `BadConfig`.

    `options` defaults to the options of the running command.
    """
    return remote_host(options) or our_places().socket


def remote_host(options: CommonOptions | None = None) -> RemoteHost | None:
    """Return the host from `--host`; None for this machine. Raises `BadUsage` and `BadConfig`."""
    options = options or common_options()
    if options.host is None or options.host == LOCAL:
        return None
    from cockpit.cli.hosts import host_named

    return host_named(options.host, options.config)


def require_absolute_path(path: Path, what: str) -> None:
    """With `--host`, raise `BadUsage` for a relative path: it would be resolved on this machine."""
    if remote_host() is not None and not path.is_absolute():
        raise BadUsage(
            f"{what} must be an absolute path on {common_options().host}",
            "A relative path would be resolved on this machine.",
            hint=f"Give the absolute path on {common_options().host}.",
        )
