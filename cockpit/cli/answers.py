"""`cockpit approve`, `refuse` and `snooze`: the pilot's answer to the question that stands."""

from __future__ import annotations

import click

from cockpit.cli.agent_names import agent_names
from cockpit.cli.options import everywhere
from cockpit.core.errors import BadUsage
from cockpit.core.safetext import quoted


@click.command(
    epilog="""\b
Examples:
  cockpit approve api              yes to the question that stands
  cockpit approve api --straight   and to the review that would follow
  cockpit approve api --sha256 HASH   to the document that you have read, and no other"""
)
@everywhere
@click.argument("name", shell_complete=agent_names)
@click.option("--straight", is_flag=True, help="Also approve the document, unseen.")
@click.option(
    "--sha256", metavar="HASH", help="Only if the document is still this one (sha256sum FILE)."
)
def approve(name: str, straight: bool, sha256: str | None) -> int:
    """Say yes: hand off, or go on with the reviewed document."""
    from cockpit.cli.asking import ask
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Approve

    ask(Approve(name=agent_name(name), straight=straight, sha256=sha256))
    return 0


@click.command(
    epilog="""\b
Examples:
  cockpit refuse api
  cockpit refuse api --compact   nor ask again before the CLI has compacted"""
)
@everywhere
@click.argument("name", shell_complete=agent_names)
@click.option("--compact", is_flag=True, help="Let it compact; do not ask again before.")
def refuse(name: str, compact: bool) -> int:
    """Say no: the agent goes on in its session."""
    from cockpit.cli.asking import ask
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Refuse

    ask(Refuse(name=agent_name(name), compact=compact))
    return 0


@click.command(
    epilog="""\b
Examples:
  cockpit snooze api        ten minutes
  cockpit snooze api 1h
  cockpit snooze api 10%    when so much more of the window is used"""
)
@everywhere
@click.argument("name", shell_complete=agent_names)
@click.argument("duration", metavar="[FOR]", default="10m")
def snooze(name: str, duration: str) -> int:
    """Ask again later: after 90s, 10m, 1h, or 10% more."""
    from cockpit.cli.asking import ask
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Snooze

    agent = agent_name(name)
    if duration.strip().endswith("%"):
        ask(Snooze(name=agent, percent=_percent(duration)))
    else:
        ask(Snooze(name=agent, seconds=_seconds(duration)))
    return 0


def _percent(written: str) -> float:
    try:
        percent = float(written.strip().removesuffix("%"))
    except ValueError:
        percent = 0.0
    if not 0 < percent <= 100:
        raise BadUsage(f"{quoted(written)} is no share of the window", hint="Try: 10%")
    return percent


def _seconds(written: str) -> float:
    from cockpit.config.quantities import duration

    try:
        seconds = duration(written)
    except ValueError as error:
        raise BadUsage(f"{quoted(written)} is not a length of time", str(error)) from None
    if seconds <= 0:
        raise BadUsage("A snooze of no time is no snooze", hint="Try: 10m")
    return seconds
