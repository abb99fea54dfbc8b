"""`cockpit events`: print events, and follow new ones."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from cockpit.cli.options import common_options, with_common_options
from cockpit.cli.output import say
from cockpit.core.safetext import safe_line

if TYPE_CHECKING:
    from cockpit.client.http import HttpClient
    from cockpit.wire.stream import Event

MOST = 200
"""Maximum number of events without `--follow`."""


@click.command(
    epilog="""\b
Examples:
  cockpit events                     print the newest 200
  cockpit events --follow --json     one JSON object per line, until Ctrl-C
  cockpit events --kinds             list every kind with its meaning"""
)
@with_common_options
@click.option("--follow", is_flag=True, help="Keep printing new events.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
@click.option(
    "--after",
    metavar="ID",
    type=int,
    default=0,
    help="Print the events after this id: the first 200, or with --follow all of them.",
)
@click.option("--kinds", is_flag=True, help="List every kind of event, and exit.")
def events(follow: bool, as_json: bool, after: int, kinds: bool) -> int:
    """Print events, oldest first.

    Without --follow, prints at most 200 events. If events were left out, prints on stderr how to
    print them.
    """
    import asyncio

    if kinds:
        from cockpit.core.event_kinds import MEANINGS

        for kind, meaning in MEANINGS.items():
            print(f"{kind:<24} {meaning}")
        return 0
    asyncio.run(_print_events(follow=follow, as_json=as_json, after=after))
    return 0


async def _print_events(*, follow: bool, as_json: bool, after: int) -> None:
    from cockpit.cli.requests import supervisor_address
    from cockpit.client.http import HttpClient

    def print_event(event: Event) -> None:
        line = f"{event.at}  {event.agent or '-':<16} {event.kind:<22} {event.text}"
        print(event.model_dump_json() if as_json else safe_line(line, 500), flush=True)

    client = HttpClient(supervisor_address())
    events = await client.events(after=after, limit=MOST)
    last = after
    for event in events:
        last = event.id
        print_event(event)
    if follow:
        async for event in client.follow(after=last):
            print_event(event)
    elif note := await _left_out(client, events, newest=after == 0):
        say(f"{note}{' --json' if as_json else ''}")


async def _left_out(client: HttpClient, events: list[Event], *, newest: bool) -> str:
    """Return a note on events that were not printed, with the command that prints them; else empty.

    `newest`: whether `events` are the newest ones; if not, they are the first ones after an id.
    """
    if len(events) < MOST:
        return ""
    host = common_options().host
    command = f"cockpit events{f' --host {shlex.quote(host)}' if host else ''} --after"
    if newest:
        # With the id 0, the supervisor would return the newest events.
        for oldest in await client.events(after=1, limit=1):
            if oldest.id < events[0].id:
                note = "Older events were left out. To print from the oldest event on"
                return f"{note}: {command} {oldest.id - 1}"
    elif await client.events(after=events[-1].id, limit=1):
        note = f"Newer events were left out. To print the next {MOST} events"
        return f"{note}: {command} {events[-1].id}"
    return ""
