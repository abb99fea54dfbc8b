"""List the worktrees of a repository with `git worktree list`.

A worktree's path may contain line feeds, so fields are separated by NUL.
"""

from __future__ import annotations

import os
from pathlib import Path

from cockpit.adapters.git.command import GitCommand
from cockpit.core.errors import Failed
from cockpit.core.safetext import safe_line

USAGE = 129
"""git's exit code for an unknown option; `-z` came with git 2.36."""


async def registered(command: GitCommand, repository: Path) -> list[dict[str, str]]:
    """Return the fields of each worktree, in git's order: the main checkout first.

    The field `worktree` is the path; `HEAD` and `branch` may be missing. Raises `Failed`.
    """
    arguments = ("worktree", "list", "--porcelain")
    answer, end = await command.run(repository, *arguments, "-z"), "\0"
    if answer.status == USAGE:
        answer, end = await command.run(repository, *arguments), "\n"
    if not answer.ok:
        raise Failed(
            f"Cannot list the worktrees of {safe_line(str(repository))}",
            answer.error,
            f"Run the command manually: git -C {safe_line(str(repository))} worktree list",
        )
    blocks = os.fsdecode(answer.output).split(end + end)
    listed = [dict(line.partition(" ")[::2] for line in block.split(end)) for block in blocks]
    # An older git writes a block without a path for a path that contains a line feed.
    return [fields for fields in listed if fields.get("worktree")]
