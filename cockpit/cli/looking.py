"""`cockpit status` and `dial-stdio`, with options that the fast path does not handle."""

from __future__ import annotations

import click

from cockpit.cli.agent_names import agent_names
from cockpit.cli.options import everywhere


@click.command(
    epilog="""\b
Examples:
  cockpit status                       one line per agent
  cockpit status api --json            one agent, for scripts
  cockpit status --watch               print only what changes
  cockpit status --watch --plain       the same in sentences, for a screen reader
  cockpit status --host gpu1           agents on another machine
  cockpit status --json | jq -r '.agents[] | select(.needs) | .name'"""
)
@everywhere
@click.argument("name", required=False, shell_complete=agent_names)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, same as GET /v1/status.")
@click.option("--watch", is_flag=True, help="Keep running; print each line again when it changes.")
@click.option("--plain", is_flag=True, help="Print sentences without bars or columns.")
def status(name: str | None, as_json: bool, watch: bool, plain: bool) -> int:
    """Show each agent's context, state and what it needs."""
    from cockpit.cli.asking import far_host
    from cockpit.cli.status import show
    from cockpit.cli.status import watch as go_on

    host = far_host()
    if watch:
        return go_on(name, as_json=as_json, plain=plain, way=host)
    called = None if host is None else host.name
    return show(name, as_json=as_json, plain=plain, way=host, host=called)


@click.command(
    "dial-stdio",
    epilog="""\b
Example:
  ssh gpu1 cockpit dial-stdio""",
)
@everywhere
def dial_stdio() -> int:
    """Connect stdin and stdout to the supervisor's socket."""
    from cockpit.cli.dial import dial

    return dial()
