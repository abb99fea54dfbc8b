"""`cockpit status` with options that the fast path does not handle."""

from __future__ import annotations

import click

from cockpit.cli.agent_names import agent_names
from cockpit.cli.options import with_common_options
from cockpit.core.errors import BadUsage


@click.command(
    epilog="""\b
Examples:
  cockpit status                       one line per agent
  cockpit status api --json            one agent, for scripts
  cockpit status --watch               also print each change
  cockpit status --watch --plain       the same in sentences, for a screen reader
  cockpit status --host gpu1           agents on another machine
  cockpit status --elsewhere           also sessions that cockpit did not start
  cockpit status --json | jq -r '.agents[] | select(.needs) | .name'"""
)
@with_common_options
@click.argument("name", required=False, shell_complete=agent_names)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print JSON, as GET /v1/status does; with --watch, one agent on each line.",
)
@click.option("--watch", is_flag=True, help="Keep running; print a line again when it changes.")
@click.option("--plain", is_flag=True, help="Print sentences without bars or columns.")
@click.option("--elsewhere", is_flag=True, help="Also list sessions that cockpit did not start.")
def status(name: str | None, as_json: bool, watch: bool, plain: bool, elsewhere: bool) -> int:
    """Show each agent's context, state and needs."""
    from cockpit.cli.requests import remote_host
    from cockpit.cli.status import show
    from cockpit.cli.status import watch as watch_status

    if elsewhere and (watch or name is not None):
        raise BadUsage(
            "--elsewhere cannot be used with a name or --watch",
            "--elsewhere prints a list once, and no agent is in that list.",
            "Usage: cockpit status --elsewhere [--json]",
        )
    host = remote_host()
    if watch:
        return watch_status(name, as_json=as_json, plain=plain, address=host)
    host_name = None if host is None else host.name
    return show(
        name, as_json=as_json, plain=plain, address=host, host=host_name, elsewhere=elsewhere
    )
