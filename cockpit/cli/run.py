"""`cockpit run FILE`: start the agents of a file, and wait until all are done."""

from __future__ import annotations

import os
from pathlib import Path

import click

from cockpit.cli.options import with_common_options
from cockpit.cli.wait import wait_seconds
from cockpit.core.errors import BadUsage
from cockpit.core.safetext import quoted


@click.command(
    name="run",
    epilog="""\b
Examples:
  cockpit run nightly.toml && ./deploy.sh
  cockpit run nightly.toml --timeout 4h

\b
Exit codes: 0 all done, 7 timed out, 8 an agent ended first; others: cockpit --help

\b
After Ctrl-C or a timeout the agents keep running. To see or end them: cockpit status,
cockpit stop NAME.""",
)
@with_common_options
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--timeout", metavar="TIME", help='Give up after this time, such as "90s" or "2h".')
def run_file(file: Path, timeout: str | None) -> int:
    """Start the agents of a file; wait until all are done.

    Does not restart agents that are already running. If an agent needs you, prints the command that
    answers the agent.

    A running supervisor keeps its configuration; it reads only [[agents]], [defaults] and
    [runtimes] from FILE. If no supervisor is running, starts one that uses the whole file.
    """
    from cockpit.cli.output import say
    from cockpit.cli.requests import ask, remote_host, with_client
    from cockpit.cli.supervisor_process import ensure_supervisor
    from cockpit.cli.wait import wait_for
    from cockpit.core.ids import agent_name
    from cockpit.wire.verbs import Start

    if remote_host() is not None:
        raise BadUsage(
            "cockpit run works on this machine only",
            "The other machine cannot read the file.",
            "Copy the file to the host, and run the command on the host.",
        )
    seconds = wait_seconds(timeout)
    path = file.absolute()
    names = [agent_name(name) for name in agents_in(path)]
    ensure_supervisor(path)
    rows = with_client(lambda client: client.status()).agents
    running = {row.name for row in rows if row.pid is not None or row.state == "starting"}
    for name in names:
        if name in running:
            say(f"{name} is already running")
        else:
            ask(Start(name=name, cwd=str(Path.cwd()), config=str(path), named=True, apart=True))
    return with_client(lambda client: wait_for(client, names, "done", seconds=seconds))


def agents_in(file: Path) -> list[str]:
    """Return the names of the file's agents. Raises `BadConfig`, and `BadUsage` without agents."""
    from cockpit.cli.places import our_places
    from cockpit.config.read import load

    loaded = load(our_places(), file, Path.cwd(), os.environ, named=True)
    names = [agent.name for agent in loaded.settings.agents if loaded.file_of(agent.name) == file]
    if not names:
        raise BadUsage(
            f"{quoted(str(file))} has no agents",
            "",
            "Add an [[agents]] table for each agent. To write an example: cockpit init",
        )
    return names
