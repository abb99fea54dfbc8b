"""Look up hosts in the current configuration, and run a command on one."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from cockpit.adapters.remote_host import RemoteHost
from cockpit.cli.agent_guard import refuse_inside_agent
from cockpit.cli.places import our_places
from cockpit.config.read import load
from cockpit.core.errors import BadUsage, ProgramMissing
from cockpit.core.far_names import ANY
from cockpit.core.safetext import quoted, safe_line


def host_named(name: str, config: Path | None) -> RemoteHost:
    """Return the configured host with that name.

    Raises `BadUsage` for an unknown name; the error lists the known hosts. Raises `BadConfig`, and
    `NotAllowed` inside an agent.
    """
    refuse_inside_agent("send requests to another machine")
    loaded = load(our_places(), config, Path.cwd(), os.environ)
    for host in loaded.settings.hosts:
        if host.name == name:
            return RemoteHost(host.name, host.connect, host.attach)
    if name == ANY:
        raise BadUsage(
            "Only `cockpit start` works with --host any",
            "--host any chooses a machine for a new agent.",
            "Pass the name of a host. To list hosts: cockpit hosts",
        )
    held = [setting for setting in loaded.held if setting.key.startswith("hosts[")]
    known = ", ".join(["local", *(host.name for host in loaded.settings.hosts)])
    hint = "Add the host: cockpit hosts add NAME ssh TARGET"
    if held:
        path = safe_line(str(held[0].file), 400)
        hint = f"Hosts in a file are ignored until you trust the file: cockpit config trust {path}"
    raise BadUsage(f"No host named {quoted(name)} is configured", f"Known: {known}.", hint)


def exec_remote(argv: Sequence[str]) -> NoReturn:
    """Replace this process with a command on a host.

    Raises `ProgramMissing` if this machine cannot run the program that connects to the host.
    """
    sys.stdout.flush()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TMUX")}
    try:
        os.execvpe(argv[0], list(argv), kept)
    except OSError as error:
        raise ProgramMissing(
            f"Cannot run {quoted(argv[0])} on this machine",
            str(error),
            hint="Install the program, or change the host's `connect` in cockpit.toml.",
        ) from error
