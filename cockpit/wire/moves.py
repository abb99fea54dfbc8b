"""The responses of a machine to the steps that move a job to another machine.

The requests are JSON objects that `cli/move_steps.py` checks, because neither of the two machines
trusts the other.
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
    """Files that git cannot store: empty folders, pipes, sockets and devices."""
    lfs: Amount = 0
    """Number of files of Git LFS."""


class Arrival(Wire):
    """The files that arrived on a machine and are not confirmed yet."""

    name: str
    folder: str
    parcel: SentParcel


class Inspection(Wire):
    """The repository and the folder in which the job's new worktree can be created."""

    version: str
    repository: str
    tips: list[str]
    """Commits that the repository already has, so that the sender can leave them out; newest first.
    """
    folder: str
    record: Arrival | None = None
    """The files of an earlier, interrupted attempt of the same move; null without one."""


class Packed(Wire):
    """A git bundle, whose bytes follow this response."""

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
