"""Send requests to the supervisor (local, or remote with `--host`) and print its answers.

A command keeps one connection to a remote host for all its requests, and so logs in only once. The
HTTP client is imported on first use, because most callers only need the chosen host.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from cockpit.cli.options import LOCAL, CommonOptions, common_options
from cockpit.cli.places import our_places
from cockpit.client.connection import Address
from cockpit.core.errors import BadUsage

if TYPE_CHECKING:
    from cockpit.adapters.kept_host import KeptHost
    from cockpit.adapters.remote_host import RemoteHost
    from cockpit.client.http import HttpClient
    from cockpit.wire.verbs import Done, Verb

Answer = TypeVar("Answer")
_KEPT = f"{__name__}.kept"


def ask(verb: Verb, *, is_only: bool = True) -> Done:
    """Send one request and print the supervisor's message on stderr.

    `is_only`: the command sends no later request, so a new connection is not kept open. Keeping it
    open would cost another round trip, and another login on a host with an older cockpit. A
    connection that an earlier request has kept open is still used.
    """
    from cockpit.cli.output import say

    done = _answered(_address(keeps=not is_only), lambda client: client.ask(verb))
    say(done.message)
    return done


def with_client(question: Callable[[HttpClient], Awaitable[Answer]]) -> Answer:
    """Run `question` with a client of the chosen supervisor; return the answer.

    Raises the supervisor's error, and `NoSupervisor`.
    """
    return _answered(supervisor_address(), question)


def _answered(
    address: Path | Address, question: Callable[[HttpClient], Awaitable[Answer]]
) -> Answer:
    import asyncio

    from cockpit.client.http import HttpClient

    client = HttpClient(address)

    async def call() -> Answer:
        return await question(client)

    return asyncio.run(call())


def supervisor_address() -> Path | Address:
    """Return the address of the supervisor that the running command uses.

    Connections to a remote host are kept until the command ends. Raises `BadUsage` and `BadConfig`.
    """
    return _address(keeps=True)


def keep(host: KeptHost) -> None:
    """Use this open connection for all later requests of the running command.

    The caller closes the connection.
    """
    click.get_current_context().find_root().meta[_KEPT] = host


def completion_address(options: CommonOptions) -> Path | Address:
    """Return the address of the supervisor for a single request of Tab completion.

    Raises `BadUsage` and `BadConfig`.
    """
    return remote_host(options) or our_places().socket


def _address(*, keeps: bool) -> Path | Address:
    command = click.get_current_context().find_root()
    kept: KeptHost | None = command.meta.get(_KEPT)
    if kept is not None:
        return kept
    host = remote_host()
    if host is None:
        return our_places().socket
    if not keeps:
        return host
    from cockpit.adapters.kept_host import KeptHost

    kept = command.meta[_KEPT] = KeptHost(host)
    command.call_on_close(kept.close)  # also after an error or Ctrl-C
    return kept


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
