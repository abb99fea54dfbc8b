"""Find the user's next step if a partial clone lacks a file's content. cockpit never fetches
content."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from cockpit.adapters.git.command import GitAnswer, GitCommand
from cockpit.core.safetext import safe_line


async def missing_files_step(
    command: GitCommand, repository: Path, answer: GitAnswer
) -> str | None:
    """Return the next step if git failed because a partial clone lacks objects; None otherwise."""
    if answer.ok or "promisor" not in answer.error:
        return None
    snapshot = await command.snapshot(repository)
    remotes = [
        setting.subsection
        for setting in (snapshot.settings if snapshot else ())
        if setting.section == b"remote" and setting.subsection and setting.name == b"promisor"
    ]
    name = os.fsdecode(remotes[0]) if remotes else "origin"
    if name.startswith("-"):
        return None
    arguments = ("git", "-C", str(repository), "fetch", "--refetch", "--no-filter", name)
    return safe_line(
        "The repository is a partial clone, and cockpit does not fetch. Fetch all files"
        f" (git 2.36 or newer), then start the agent again: {shlex.join(arguments)}",
        1000,
    )
