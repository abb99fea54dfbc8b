"""References that keep the commits of a session, so that they outlive their branch.

A reference is made once and never moved. They lie where nothing is pushed from or fetched to.
"""

from __future__ import annotations

import re
from pathlib import Path

from cockpit.adapters.git.command import DURABLE, GitCommand
from cockpit.adapters.git.facts import GitLook
from cockpit.core.errors import Failed
from cockpit.core.safetext import safe_line

REFERENCES = "refs/cockpit/keep"
NOBODY = ""
"""The old value of a reference that must not be there yet."""


class GitKeeping:
    """Keeps one commit at a time."""

    def __init__(self, command: GitCommand, look: GitLook) -> None:
        self.command = command
        self.look = look

    async def keep(self, directory: Path, agent: str, label: str) -> str | None:
        """The reference that holds what is checked out; None before the first commit.

        Twice is as once: one that is there stays on the commit that it has.
        """
        head = await self.look.head(directory)
        if head is None:
            return None
        name = f"{REFERENCES}/{reference_part(agent)}/{reference_part(label)}"
        words = ("update-ref", name, head, NOBODY)
        answer = await self.command.run(directory, *words, settings=DURABLE)
        if answer.ok or (await self.command.run(directory, "show-ref", "-q", "--verify", name)).ok:
            return name
        raise Failed(f"No reference keeps the commits of {safe_line(agent)}", answer.error)


def reference_part(text: str) -> str:
    """A part of a reference's name that git takes, whatever the text is."""
    return re.sub(r"[^a-z0-9-]+", "-", text).strip("-") or "worktree"
