"""`cockpit status` and `dial-stdio`, for spellings that the fast path leaves to click."""

from __future__ import annotations

import click

from cockpit.cli.agent_names import agent_names
from cockpit.cli.options import everywhere


@click.command(
    epilog="""\b
Examples:
  cockpit status                       a line for each agent
  cockpit status api --json            one agent, for scripts
  cockpit status --watch               prints only what changes
  cockpit status --watch --plain       the same in sentences, for a screen reader
  cockpit status --host gpu1           of another machine
  cockpit status --json | jq -r '.agents[] | select(.needs) | .name'"""
)
@everywhere
@click.argument("name", required=False, shell_complete=agent_names)
@click.option("--json", "as_json", is_flag=True, help="The fixed JSON form, also GET /v1/status.")
@click.option("--watch", is_flag=True, help="Go on, and print each line again when it changes.")
@click.option("--plain", is_flag=True, help="Sentences: no bar, no columns, no colour.")
def status(name: str | None, as_json: bool, watch: bool, plain: bool) -> int:
    """Every agent: its context, its work, what it needs."""
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
    """Join stdin and stdout to the supervisor's socket."""
    from cockpit.cli.dial import dial

    return dial()
