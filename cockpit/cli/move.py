"""`cockpit move`: continue an agent's job on another machine.

This command sends requests to both supervisors, which do not know each other. The old session ends
only after the new session has replied. If the move fails before that reply, this command removes
what it sent to the other machine, and refuses the handoff. If this command is killed, the handoff
stays in phase `moving`. To continue, run the same command again.
"""

from __future__ import annotations

from pathlib import Path

import click

from cockpit.cli.agent_names import agent_names
from cockpit.cli.options import common_options, with_common_options


@click.command(
    epilog="""\b
Examples:
  cockpit move api --to gpu1 --dry-run       show what is moved and what stays
  cockpit move api --to gpu1                 you review the document, unless in mode auto
  cockpit move api --to gpu1 --yes           approve without your review
  cockpit move gpu1/api --to local           back to this machine
  cockpit move api --to gpu1 --runtime codex --directory /home/me/project

\b
Both machines need the same version of cockpit, a running supervisor, and a clone of the same
repository. The document, commits, and uncommitted files are moved: staged, unstaged and untracked.
Ignored files, and untracked files whose names suggest secrets (.env, keys), stay and are listed.
The old session ends when the new one has replied; until then, any failure leaves the job where it
was. The old worktree stays until you remove it: cockpit worktrees remove NAME. If the command is
interrupted, run it again."""
)
@with_common_options
@click.argument("name", shell_complete=agent_names)
@click.option(
    "--to",
    "to",
    metavar="HOST",
    required=True,
    help="The target: a host in [[hosts]], or `local` for this machine.",
)
@click.option(
    "--directory",
    metavar="DIR",
    help="The repository on HOST; default: the same path as on the agent's machine.",
)
@click.option(
    "--branch", metavar="NAME", help="Name of the branch on HOST; default: the same name."
)
@click.option(
    "--name",
    "new_name",
    metavar="NAME",
    help="Name of the agent on HOST; default: the same name.",
)
@click.option(
    "--runtime",
    metavar="NAME",
    help="The CLI of the new session; default: the CLI of the old session.",
)
@click.option(
    "--yes", is_flag=True, help="Approve the document without your review, if it has no problems."
)
@click.option(
    "--wait",
    "seconds",
    metavar="SECONDS",
    type=click.FloatRange(1, 86_400),
    default=300.0,
    show_default=True,
    help="Maximum time to wait for the first reply of the new session.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Check both machines and show what would be moved; change nothing.",
)
def move(
    name: str,
    to: str,
    directory: str | None,
    branch: str | None,
    new_name: str | None,
    runtime: str | None,
    yes: bool,
    seconds: float,
    dry_run: bool,
) -> int:
    """Move an agent's job to another machine.

    Hands off the job to a new session on that machine, in a worktree with the same files. For
    an agent on another host, NAME is HOST/NAME.
    """
    import asyncio

    from cockpit.cli.agent_guard import refuse_inside_agent
    from cockpit.cli.move_check import Wanted
    from cockpit.cli.move_job import Job
    from cockpit.cli.move_machines import machine
    from cockpit.core.errors import BadUsage
    from cockpit.core.far_names import host_and_name
    from cockpit.core.ids import agent_name

    refuse_inside_agent("move a job to another machine")
    options = common_options()
    host, bare = host_and_name(name)
    source = machine(host or options.host, options.config)
    target = machine(to, options.config)
    if source.name == target.name:
        raise BadUsage(
            f"{bare} is already on {source.shown}",
            "",
            f"To continue in a new session there: {source.by_hand('handoff', bare)}",
        )
    if directory is not None and not Path(directory).is_absolute():
        raise BadUsage(
            "--directory must be an absolute path on the other machine",
            "A relative path would be resolved on this machine.",
            f"Pass the absolute path on {target.shown}.",
        )
    wanted = Wanted(
        name=agent_name(bare),
        new_name=agent_name(new_name or bare),
        directory=directory,
        branch=branch,
        runtime=runtime,
        yes=yes,
        seconds=seconds,
    )
    job = Job(source, target, wanted)
    try:
        return asyncio.run(job.show() if dry_run else job.move())
    finally:
        source.close()
        target.close()


@click.command(
    "move-step",
    hidden=True,
    epilog="""\b
Example:
  cockpit move-step     run by cockpit move, and by cockpit start --host any""",
)
def move_step() -> int:
    """Perform a step of a move or placement; internal.

    Reads the request from stdin, and prints the answer on stdout.
    """
    from cockpit.cli.move_steps import run_step

    return run_step()
