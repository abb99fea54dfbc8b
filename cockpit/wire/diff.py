"""`GET /v1/diff/NAME`: the changes of an agent's worktree since a commit, staged or not."""

from __future__ import annotations

from pydantic import Field

from cockpit.wire.status import Wire


class DiffFile(Wire):
    path: str
    """Path of the file, relative to the top of the worktree; safe to show."""
    added: int | None = None
    """Number of added lines; null for a binary file."""
    removed: int | None = None


class WorktreeDiff(Wire):
    directory: str
    since: str | None = None
    """The commit that the worktree is compared with; null before the first commit."""
    of_job: bool = False
    """True if `since` is the commit at which the job began; otherwise `since` is HEAD."""
    files: list[DiffFile] = Field(default_factory=list)
    untracked: list[str] = Field(default_factory=list)
    """Paths of untracked files, safe to show; a folder with only untracked files is one entry."""
    text: str = ""
    """Git's output. The text is untrusted: the client must make the text safe to show."""
    cut: bool = False
    """True if the diff is incomplete because it is too long."""
    unknown: str | None = None
    """Why there is no diff; then `directory` is the only other field that is set. Null if there is
    a diff."""
