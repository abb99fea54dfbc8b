"""The filters that only a repository's own configuration defines.

A filter is a program that git runs on a file's content. One that the user's own configuration
names (git-lfs, mostly) is the user's, and runs. One of the repository's never does (`git_seal`);
here is asked which those are, to say so.
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
    """Their names in order, made safe to show; none where git finds no repository.

    `folder` is as in `GitCommand.run`. Raises `Failed` where it cannot be known.
    """
    snapshot = await command.snapshot(directory, folder)
    names = git_settings.foreign_filters(snapshot.settings) if snapshot else ()
    return tuple(safe_line(os.fsdecode(name), 80) for name in names)
