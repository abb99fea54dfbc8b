"""Create references that keep a session's commits, even if the branch is deleted.

A reference is created once and never changed. Its namespace is neither pushed nor fetched.
"""

from __future__ import annotations

import re
from pathlib import Path

from cockpit.adapters.git.command import DURABLE, GitCommand
from cockpit.adapters.git.facts import GitFactFinder
from cockpit.core.errors import Failed
from cockpit.core.safetext import safe_line

REFERENCES = "refs/cockpit/keep"
MUST_NOT_EXIST = ""
"""The old value to pass to `git update-ref` for a reference that must not exist yet."""


class GitCommitRefs:
    """Creates references that keep the commits of sessions."""

    def __init__(self, command: GitCommand, look: GitFactFinder) -> None:
        self.command = command
        self.look = look

    async def keep(self, directory: Path, agent: str, label: str) -> str | None:
        """Create a reference to HEAD and return the reference's name.

        None before the first commit and outside a repository. Idempotent: an existing reference
        stays on its commit. Raises `Failed`.
        """
        head = await self.look.head(directory)
        if head is None:
            return None
        name = f"{REFERENCES}/{reference_part(agent)}/{reference_part(label)}"
        arguments = ("update-ref", name, head, MUST_NOT_EXIST)
        answer = await self.command.run(directory, *arguments, settings=DURABLE)
        if answer.ok or (await self.command.run(directory, "show-ref", "-q", "--verify", name)).ok:
            return name
        raise Failed(
            f"Cannot create a reference for the commits of {safe_line(agent)}",
            answer.error,
            hint="Check that the repository is writable and intact: git fsck",
        )


def reference_part(text: str) -> str:
    """Convert any text to a valid part of a reference's name."""
    return re.sub(r"[^a-z0-9-]+", "-", text).strip("-") or "worktree"
