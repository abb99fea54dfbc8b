"""The state of a worktree that is moved to another machine."""

from __future__ import annotations

import re
from dataclasses import dataclass

REFERENCES = "refs/cockpit/moved"
"""Prefix of the references that keep the commits of moved worktrees, on both machines.

These references are never pushed or fetched.
"""
OBJECT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_PART = re.compile(r"[a-z0-9-]{1,80}")


@dataclass(frozen=True, slots=True)
class WorktreeState:
    """The exact state of a worktree, as hashes: two equal states have equal files and index."""

    head: str
    staged: str
    """Hash of git's tree object for the index."""
    files: str
    """Hash of git's tree object for the transferred files, stored byte for byte."""

    @property
    def is_valid(self) -> bool:
        return all(
            OBJECT.fullmatch(object_id) for object_id in (self.head, self.staged, self.files)
        )


@dataclass(frozen=True, slots=True)
class Parcel:
    """A worktree as commits: `commit` has the files. The parents of `commit` are HEAD and a
    commit of the staged files."""

    reference: str
    commit: str
    state: WorktreeState

    @property
    def is_valid(self) -> bool:
        parts = self.reference.removeprefix(f"{REFERENCES}/").split("/")
        named = self.reference.startswith(f"{REFERENCES}/") and len(parts) == 2
        return (
            named
            and all(_PART.fullmatch(part) for part in parts)
            and OBJECT.fullmatch(self.commit) is not None
            and self.state.is_valid
        )


@dataclass(frozen=True, slots=True)
class StaysBehind:
    """The files of a moved worktree that are not transferred to the other machine."""

    names: tuple[str, ...] = ()
    """The first names in alphabetical order, safe to show; a folder's name ends with a slash."""
    count: int = 0
    size: int = 0
    """Total size in bytes; for large folders only the files that were counted."""
