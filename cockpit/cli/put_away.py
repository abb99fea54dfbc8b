"""`cockpit forget` and `cockpit rename`: remove or rename agents whose process has ended."""

from __future__ import annotations

import click

from cockpit.cli.agent_names import agent_names
from cockpit.cli.options import with_common_options


@click.command(
    epilog="""\b
Examples:
  cockpit forget api
  cockpit forget api web docs   one result per agent; the exit code is that of the last failure"""
)
@with_common_options
@click.argument("names", metavar="NAME...", nargs=-1, required=True, shell_complete=agent_names)
def forget(names: tuple[str, ...]) -> int:
    """Remove ended agents from the list. Their history, documents and worktrees stay.

    Refused while an agent is starting, while a process of the agent is running, and while a handoff
    is in progress. An agent that your configuration file defines is listed again as not started.
    """
    from cockpit.cli.output import print_error
    from cockpit.cli.requests import ask
    from cockpit.core.errors import CockpitError, NoSupervisor
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Forget

    wanted = [agent_name(name) for name in dict.fromkeys(names)]
    code = 0
    for name in wanted:
        try:
            ask(Forget(name=name), is_only=len(wanted) == 1)
        except NoSupervisor:
            raise
        except CockpitError as refused:
            code = print_error(refused)
    return code


@click.command(
    epilog="""\b
Example:
  cockpit rename api api-old"""
)
@with_common_options
@click.argument("old", shell_complete=agent_names)
@click.argument("new")
def rename(old: str, new: str) -> int:
    """Rename an ended agent. Its history is kept; its worktree and branch keep their names.

    Refused while the agent is starting, while a process of the agent is running, while a handoff is
    in progress, and if the name NEW is taken.
    """
    from cockpit.cli.requests import ask
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Rename

    ask(Rename(name=agent_name(old), to=agent_name(new)))
    return 0
