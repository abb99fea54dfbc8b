"""Send the same request to the local supervisor and to the supervisor of each configured host."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from cockpit.adapters.kept_host import KeptHost
from cockpit.adapters.remote_host import RemoteHost
from cockpit.cli.agent_guard import refuse_inside_agent
from cockpit.cli.options import common_options
from cockpit.cli.output import say
from cockpit.cli.places import our_places
from cockpit.client.host_client import HostClient
from cockpit.client.http import HttpClient
from cockpit.config.read import load
from cockpit.core.errors import CockpitError, NoSupervisor
from cockpit.core.far_names import LOCAL
from cockpit.core.safetext import safe_line

if TYPE_CHECKING:
    from cockpit.client.client import Supervisor

Answer = TypeVar("Answer")


def ask_all_hosts(question: Callable[[Supervisor], Awaitable[Answer]]) -> dict[str, Answer]:
    """Ask each host; return the answers by host name, this machine first.

    Prints the error of each host that does not answer. Logs in to each host only once. If several
    hosts lead to the same supervisor, asks only the first.

    Raises `NoSupervisor` if no host answers, and `NotAllowed` inside an agent.
    """
    refuse_inside_agent("send requests to another machine")
    places = our_places()
    settings = load(places, common_options().config, Path.cwd(), os.environ).settings
    members: dict[str, Supervisor] = {LOCAL: HttpClient(places.socket)}
    kept = [KeptHost(RemoteHost(host.name, host.connect, host.attach)) for host in settings.hosts]
    for address in kept:
        members[address.host.name] = HostClient(
            address.host.name, HttpClient(address, address.host.name)
        )

    async def ask_all() -> list[Answer | CockpitError]:
        statuses = await asyncio.gather(*(_answer(member.status()) for member in members.values()))
        first: dict[str, str] = {}
        questions: list[Awaitable[Answer | CockpitError]] = []
        for name, status in zip(list(members), statuses, strict=True):
            if isinstance(status, CockpitError):
                questions.append(_known(status))
                continue
            instance = status.supervisor.instance
            if instance and (shown := first.setdefault(instance, name)) != name:
                say(f"Skipped {name}: same supervisor as {shown}")
                del members[name]
                continue
            questions.append(_answer(question(members[name])))
        return await asyncio.gather(*questions)

    try:
        answered = asyncio.run(ask_all())
    finally:
        for address in kept:
            address.close_soon()
        for address in kept:
            address.close()
    answers: dict[str, Answer] = {}
    for name, answer in zip(members, answered, strict=True):
        if isinstance(answer, CockpitError):
            why = ": ".join(filter(None, [answer.title, *answer.detail.splitlines()[:1]]))
            say(f"Skipped {name}: {safe_line(why, 300)}")
        else:
            answers[name] = answer
    if not answers:
        raise NoSupervisor("No host answered", "", "Check each host: cockpit doctor --host HOST")
    return answers


async def _known(error: CockpitError) -> CockpitError:
    return error


async def _answer(answer: Awaitable[Answer]) -> Answer | CockpitError:
    try:
        return await answer
    except CockpitError as error:
        return error
