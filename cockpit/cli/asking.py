"""Having the supervisor do something, and telling the pilot what it answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from cockpit.cli.options import asked, refuse_far_hosts
from cockpit.cli.places import our_places
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
    check_host()

    async def put() -> Answer:
        return await question(HttpClient(our_places().socket))

    return asyncio.run(put())


def check_host() -> None:
    """Refuse a `--host` that this version cannot reach."""
    if asked().host is None:
        return
    from cockpit.cli.project import configured_hosts

    refuse_far_hosts(configured_hosts(asked().config), asked().host)
