"""Answers to the steps of a move, between the command that drives it and each machine.

The requests are JSON objects that `cli/move_steps.py` checks, because each step runs on a machine
that does not trust the other one either.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from cockpit.wire.status import Wire

Amount = Annotated[int, Field(ge=0)]


class Staying(Wire):
    """Files that do not travel."""

    names: list[str] = Field(default_factory=list)
    """The first of them; a folder ends with a slash."""
    count: Amount = 0
    size: Amount = 0
    """Bytes in total; of folders at most the files that were looked at."""


class SentState(Wire):
    """The state of a worktree, as hashes; see `core.moved_worktree.WorktreeState`."""

    head: str
    staged: str
    files: str


class SentParcel(Wire):
    """A worktree as commits; see `core.moved_worktree.Parcel`."""

    reference: str
    commit: str
    state: SentState


class Description(Wire):
    """What travels from a worktree, and what stays."""

    version: str
    home: str
    """The main worktree of the repository."""
    inside: str = "."
    """The agent's directory in its worktree."""
    branch: str | None = None
    """Null for a detached HEAD."""
    head: str
    roots: list[str]
    uncommitted: Amount
    ignored: Staying
    secret: Staying


class Arrival(Wire):
    """What arrived on a machine, and is not confirmed yet."""

    name: str
    folder: str
    parcel: SentParcel


class Inspection(Wire):
    """Where a worktree can arrive."""

    version: str
    repository: str
    tips: list[str]
    """Commits that are there already."""
    folder: str
    record: Arrival | None = None
    """Null unless an earlier attempt of the same move was interrupted."""


class Packed(Wire):
    """A bundle, whose bytes follow this answer."""

    parcel: SentParcel
    size: Amount
    sha256: str


class Arrived(Wire):
    folder: str
    document: str
    """Path of the document for the new session."""


class CurrentState(Wire):
    state: SentState


class Recorded(Wire):
    record: Arrival | None = None


class Discarded(Wire):
    left: str = ""
    """Path of a worktree that was kept; empty if all was taken back."""
    why: str = ""
