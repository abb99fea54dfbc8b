"""The answers of each machine to the steps of a move.

The requests are JSON objects that `cli/move_steps.py` checks, because neither machine trusts the
other one.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from cockpit.wire.status import Wire

Amount = Annotated[int, Field(ge=0)]


class Staying(Wire):
    """Files that are not transferred."""

    names: list[str] = Field(default_factory=list)
    """The first file names; a folder's name ends with a slash."""
    count: Amount = 0
    size: Amount = 0
    """Total size in bytes; for large folders only the files that were counted."""


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
    """The parts of a worktree that are transferred, and those that stay."""

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
    unstored: Staying = Field(default_factory=Staying)
    """What git does not store: empty folders, pipes, sockets and devices."""
    lfs: Amount = 0
    """Number of files of Git LFS."""


class Arrival(Wire):
    """The files that arrived on a machine and are not confirmed yet."""

    name: str
    folder: str
    parcel: SentParcel


class Inspection(Wire):
    """The place where a worktree can be created."""

    version: str
    repository: str
    tips: list[str]
    """Commits that the other machine already has."""
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
    """Path of a worktree that was kept; empty if everything was removed."""
    why: str = ""
