"""Having the supervisor that was asked for do something, and telling the pilot what it answered.

That is this machine's, or with `--host` another's. What speaks to it is loaded when it is spoken
to: most who come through here only want to know which machine is meant.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from cockpit.cli.options import LOCAL, Asked, asked
from cockpit.cli.places import our_places
from cockpit.client.line import Way
from cockpit.core.errors import BadUsage

if TYPE_CHECKING:
    from cockpit.adapters.far_host import FarHost
    from cockpit.client.http import HttpClient
    from cockpit.wire.verbs import Done, Verb

Answer = TypeVar("Answer")


def ask(verb: Verb) -> Done:
    """Send one verb and say the supervisor's one line on stderr."""
    from cockpit.cli.speech import say

    done = with_client(lambda client: client.ask(verb))
    say(done.message)
    return done


def with_client(question: Callable[[HttpClient], Awaitable[Answer]]) -> Answer:
    """Put a question to the supervisor that was asked for. Raises `NoSupervisor`."""
    import asyncio

    from cockpit.client.http import HttpClient

    client = HttpClient(way())

    async def put() -> Answer:
        return await question(client)

    return asyncio.run(put())


def way(said: Asked | None = None) -> Path | Way:
    """How the supervisor that was asked for is reached. Raises `BadUsage` and `BadConfig`.

    What was `said` is that of the command that is running, unless it is given.
    """
    return far_host(said) or our_places().socket


def far_host(said: Asked | None = None) -> FarHost | None:
    """The other machine that was asked for; None for this one. Raises `BadUsage`, `BadConfig`."""
    said = said or asked()
    if said.host is None or said.host == LOCAL:
        return None
    from cockpit.cli.hosts import host_named

    return host_named(said.host, said.config)


def not_a_file_here(path: Path, what: str) -> None:
    """With `--host`, refuse a path that could only mean a file of this machine."""
    if far_host() is not None and not path.is_absolute():
        raise BadUsage(
            f"{what} must be an absolute path on {asked().host}",
            "A relative one would be looked for on this machine.",
        )
