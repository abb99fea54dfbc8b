"""Find filters that only the repository's own configuration defines.

A filter is a program that git runs on file content. Filters from the user's configuration (mostly
git-lfs) run. Those of the repository never do (`sealed_config.py`); this module lists them for the
message.
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
    """Return their names in order, safe to show; none outside a repository.

    `folder` is as in `GitCommand.run`. Raises `Failed` if they cannot be determined.
    """
    snapshot = await command.snapshot(directory, folder)
    names = git_settings.foreign_filters(snapshot.settings) if snapshot else ()
    return tuple(safe_line(os.fsdecode(name), 80) for name in names)
