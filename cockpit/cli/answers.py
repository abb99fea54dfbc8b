"""`cockpit approve`, `refuse` and `snooze`: the pilot's answer to the question that stands."""

from __future__ import annotations

import click

from cockpit.cli.options import agent_names, everywhere
from cockpit.core.errors import BadUsage


@click.command(
    epilog="""\b
Examples:
  cockpit approve api              yes to the question that stands
  cockpit approve api --straight   and to the review that would follow"""
)
@everywhere
@click.argument("name", shell_complete=agent_names)
@click.option("--straight", is_flag=True, help="Also approve the document, unseen.")
def approve(name: str, straight: bool) -> int:
    """Say yes: hand off, or go on with the reviewed document."""
    from cockpit.cli.asking import ask
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Approve

    ask(Approve(name=agent_name(name), straight=straight))
    return 0


@click.command(
    epilog="""\b
Example:
  cockpit refuse api"""
)
@everywhere
@click.argument("name", shell_complete=agent_names)
def refuse(name: str) -> int:
    """Say no: the agent goes on in its session."""
    from cockpit.cli.asking import ask
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Refuse

    ask(Refuse(name=agent_name(name)))
    return 0


@click.command(
    epilog="""\b
Examples:
  cockpit snooze api        ten minutes
  cockpit snooze api 1h"""
)
@everywhere
@click.argument("name", shell_complete=agent_names)
@click.argument("duration", metavar="[FOR]", default="10m")
def snooze(name: str, duration: str) -> int:
    """Ask again later; FOR is like 90s, 10m or 1h."""
    from cockpit.cli.asking import ask
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Snooze

    ask(Snooze(name=agent_name(name), seconds=_seconds(duration)))
    return 0


def _seconds(written: str) -> float:
    from cockpit.config.quantities import duration

    try:
        seconds = duration(written)
    except ValueError as error:
        raise BadUsage(f"{written!a} is not a length of time", str(error)) from None
    if seconds <= 0:
        raise BadUsage("A snooze of no time is no snooze", hint="Try: 10m")
    return seconds
