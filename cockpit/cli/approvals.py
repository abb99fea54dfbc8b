"""`cockpit approve`, `refuse`, `snooze` and `done`: answer a handoff's question, or end a job."""

from __future__ import annotations

import click

from cockpit.cli.agent_names import agent_names
from cockpit.cli.options import with_common_options
from cockpit.core.errors import BadUsage
from cockpit.core.safetext import quoted


@click.command(
    epilog="""\b
Examples:
  cockpit approve api                 approve the handoff, or the document under review
  cockpit approve api --straight      approve and skip the review
  cockpit approve api --sha256 HASH   only if the document is the one you read"""
)
@with_common_options
@click.argument("name", shell_complete=agent_names)
@click.option("--straight", is_flag=True, help="Approve and skip the review.")
@click.option(
    "--sha256",
    metavar="HASH",
    help="Approve only if the document under review has this SHA-256 (sha256sum FILE).",
)
def approve(name: str, straight: bool, sha256: str | None) -> int:
    """Approve a handoff, or the document under review."""
    from cockpit.cli.requests import ask
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Approve

    ask(Approve(name=agent_name(name), straight=straight, sha256=sha256))
    return 0


@click.command(
    epilog="""\b
Examples:
  cockpit refuse api
  cockpit refuse api --compact   do not ask again until the CLI has compacted"""
)
@with_common_options
@click.argument("name", shell_complete=agent_names)
@click.option(
    "--compact", is_flag=True, help="Let the CLI compact; do not ask again until it has compacted."
)
def refuse(name: str, compact: bool) -> int:
    """Refuse a handoff; the agent continues in its session.

    If a new session has started but not replied yet, ends the new session and reopens the old one.
    """
    from cockpit.cli.requests import ask
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Refuse

    ask(Refuse(name=agent_name(name), compact=compact))
    return 0


@click.command(
    short_help="Ask again later: after a time, or when more of the context is used.",
    epilog="""\b
Examples:
  cockpit snooze api        for 10 minutes
  cockpit snooze api 1h
  cockpit snooze api 10%    when 10% more of the context is used
  cockpit snooze api now    end the snooze: ask now""",
)
@with_common_options
@click.argument("name", shell_complete=agent_names)
@click.argument("duration", metavar="[FOR]", default="10m")
def snooze(name: str, duration: str) -> int:
    """Ask again later.

    FOR is a time (default: 10m), a percentage such as 10% (ask when that much more of the context
    is used), or now. With a percentage, cockpit asks again at the force threshold at the latest. A
    snoozed handoff can still be approved or refused.
    """
    from cockpit.cli.requests import ask
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Snooze

    agent = agent_name(name)
    if duration.strip() == "now":
        ask(Snooze(name=agent, seconds=0))
    elif duration.strip().endswith("%"):
        ask(Snooze(name=agent, percent=_percent(duration)))
    else:
        ask(Snooze(name=agent, seconds=_seconds(duration)))
    return 0


@click.command(
    epilog="""\b
Example:
  cockpit done api    same as when the agent prints its completion marker"""
)
@with_common_options
@click.argument("name", shell_complete=agent_names)
def done(name: str) -> int:
    """Mark an agent's job as done.

    Cancels a handoff in progress. Applies push_on_success and create_pr, and runs the after_run
    hooks. Refused while the agent is working or waiting for your answer. The next prompt to the
    agent reopens the job.
    """
    from cockpit.cli.requests import ask
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Finish

    ask(Finish(name=agent_name(name)))
    return 0


def _percent(written: str) -> float:
    try:
        percent = float(written.strip().removesuffix("%"))
    except ValueError:
        percent = 0.0
    if not 0 < percent <= 100:
        raise BadUsage(
            f"{quoted(written)} is not a percentage above 0 and up to 100", hint="Try: 10%"
        )
    return percent


def _seconds(written: str) -> float:
    from cockpit.config.quantities import duration

    try:
        seconds = duration(written)
    except ValueError as error:
        raise BadUsage(
            f"{quoted(written)} is not a duration", str(error), hint="Try: 10m"
        ) from None
    if seconds <= 0:
        raise BadUsage("A snooze must be longer than 0", hint="Try: 10m. To end a snooze: now")
    return seconds
