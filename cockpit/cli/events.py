"""`cockpit events`: print events, and follow new ones."""

from __future__ import annotations

import click

from cockpit.cli.options import with_common_options
from cockpit.core.safetext import safe_line


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
    """Print events, oldest first."""
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
    from cockpit.wire.stream import Event

    def print_event(event: Event) -> None:
        line = f"{event.at}  {event.agent or '-':<16} {event.kind:<22} {event.text}"
        print(event.model_dump_json() if as_json else safe_line(line, 500), flush=True)

    client = HttpClient(supervisor_address())
    for event in await client.events(after=after):
        after = event.id
        print_event(event)
    if follow:
        async for event in client.follow(after=after):
            print_event(event)
