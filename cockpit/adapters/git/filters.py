"""Find filters that only the repository's own configuration defines.

A filter is a program that git runs on file content. Filters from the user's configuration (mostly
git-lfs) run. The repository's filters never run (`sealed_config.py`); this module lists them for
messages.
"""

from __future__ import annotations

import os
from pathlib import Path

from cockpit.adapters.git.command import GitCommand
from cockpit.core import git_settings
from cockpit.core.safetext import safe_line


async def repository_filters(
    command: GitCommand, directory: Path, folder: Path | None = None
) -> tuple[str, ...]:
    """Return the names of the repository's filters, sorted and safe to show; none outside a
    repository.

    `folder` is as in `GitCommand.run`. Raises `Failed` if the filters cannot be determined.
    """
    snapshot = await command.snapshot(directory, folder)
    names = git_settings.foreign_filters(snapshot.settings) if snapshot else ()
    return tuple(safe_line(os.fsdecode(name), 80) for name in names)
