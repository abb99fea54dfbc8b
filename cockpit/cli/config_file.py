"""Find the configuration file for a command.

A request contains the file's path, and whether the user passed it with `--config`; the supervisor
reads the file.
"""

from __future__ import annotations

import os
from pathlib import Path

from cockpit.cli.places import our_places
from cockpit.config.project import project_file
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line


def file_to_read(config: Path | None) -> tuple[Path | None, bool]:
    """Return the absolute path to send with `up` and `start`, and whether the user passed it.

    The path is None if the user passed none and the project has no file.
    """
    if config is not None:
        return config, True
    file = project_file(Path.cwd())
    return (None if file is None else file.absolute()), False


def configured_summary(config: Path | None) -> str:
    """Return a line with the number of configured agents, and of settings that need trust.

    Raises `BadConfig`.
    """
    from cockpit.config.read import load

    file, named = file_to_read(config)
    loaded = load(our_places(), file, Path.cwd(), os.environ, named=named)
    names = {agent.name for agent in loaded.settings.agents}
    names |= {held.agent for held in loaded.held if held.agent is not None}
    summary = f"{counted(len(names), 'agent')} configured"
    if loaded.held:
        path = safe_line(str(loaded.held[0].file), 400)
        waiting = counted(len(loaded.held), "setting")
        summary += f"; {waiting} ignored until you trust the file: cockpit config trust {path}"
    elif not loaded.files:
        summary += "; create a config file with: cockpit init"
    return summary
