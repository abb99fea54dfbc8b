"""`cockpit hooks`: trying a hook out before anything depends on it."""

from __future__ import annotations

import click

from cockpit.cli.options import asked, everywhere


@click.group(
    epilog="""\b
Examples:
  cockpit hooks test save on_context_threshold
  cockpit hooks test api session_start      all of that agent's"""
)
@everywhere
def hooks() -> None:
    """Try hooks out with a made-up event."""


@hooks.command(
    epilog="""\b
Example:
  cockpit hooks test save on_context_threshold"""
)
@everywhere
@click.argument("name")
@click.argument("event")
def test(name: str, event: str) -> int:
    """Run the hook NAME, or the hooks of the agent NAME, as if EVENT had happened.

    Shows how each went and what it printed. No supervisor is needed, and none hears of it.
    """
    from cockpit.cli.hook_trial import trial

    return trial(name, event, asked().config)
