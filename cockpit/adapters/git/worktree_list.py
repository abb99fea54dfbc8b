"""Which worktrees git knows of a repository, as `git worktree list` says.

A worktree's path may hold line feeds, so the fields are asked for with a NUL behind each.
"""

from __future__ import annotations

import os
from pathlib import Path

from cockpit.adapters.git.command import GitCommand
from cockpit.core.errors import Failed
from cockpit.core.safetext import safe_line

USAGE = 129
"""How git ends when it does not know an option; `-z` came with git 2.36."""


async def registered(command: GitCommand, repository: Path) -> list[dict[str, str]]:
    """The fields of each worktree, in git's order: the main checkout first.

    `worktree` is the path; `HEAD` and `branch` may be missing. Raises `Failed`.
    """
    words = ("worktree", "list", "--porcelain")
    answer, end = await command.run(repository, *words, "-z"), "\0"
    if answer.status == USAGE:
        answer, end = await command.run(repository, *words), "\n"
    if not answer.ok:
        raise Failed(
            f"The worktrees of {safe_line(str(repository))} cannot be listed",
            answer.error,
            f"git -C {safe_line(str(repository))} worktree list",
        )
    blocks = os.fsdecode(answer.output).split(end + end)
    listed = [dict(line.partition(" ")[::2] for line in block.split(end)) for block in blocks]
    # A block without a path is what an older git writes of one with a line feed in its path.
    return [fields for fields in listed if fields.get("worktree")]
