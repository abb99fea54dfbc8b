"""Which configuration file goes with a command, and what the client itself needs of it.

The supervisor reads the file; the client only says which one, and whether the pilot named it.
"""

from __future__ import annotations

import os
from pathlib import Path

from cockpit.cli.places import our_places
from cockpit.config.read import load, project_file


def file_to_read(config: Path | None) -> tuple[Path | None, bool]:
    """The file that goes with `up` and `start`, absolute, and whether it was named."""
    if config is not None:
        return config, True
    found = project_file(Path.cwd())
    return (None if found is None else found.absolute()), False


def configured_hosts(config: Path | None) -> list[str]:
    """Names of the hosts in the files that hold here. Raises `BadConfig`."""
    loaded = load(our_places(), config, Path.cwd(), os.environ)
    return [host.name for host in loaded.settings.hosts]
