"""`cockpit hooks`: test hooks with a sample event."""

from __future__ import annotations

import click

from cockpit.cli.options import common_options, with_common_options


@click.group(
    epilog="""\b
Examples:
  cockpit hooks test save on_context_threshold
  cockpit hooks test api session_start      all of agent api's hooks for this event"""
)
@with_common_options
def hooks() -> None:
    """Test hooks with a sample event."""


@hooks.command(
    short_help="Run a hook, or an agent's hooks for an event, with a sample event.",
    epilog="""\b
Example:
  cockpit hooks test save on_context_threshold""",
)
@with_common_options
@click.argument("name")
@click.argument("event")
def test(name: str, event: str) -> int:
    """Run the hook NAME, or the hooks of the agent NAME for EVENT, as if EVENT had happened.

    Prints each hook's result and output. Does not contact the supervisor.
    """
    from cockpit.cli.hook_trial import run_trial

    return run_trial(name, event, common_options().config)
