"""`GET /v1/diff/NAME`: how an agent's worktree differs from a commit, staged or not."""

from __future__ import annotations

from pydantic import Field

from cockpit.wire.status import Wire


class DiffFile(Wire):
    path: str
    """Safe to show; from the top of the worktree."""
    added: int | None = None
    """Lines; null for what is not text."""
    removed: int | None = None


class WorktreeDiff(Wire):
    directory: str
    since: str | None = None
    """The commit that it is compared with; null before the first one."""
    of_job: bool = False
    """That commit is where the job began; otherwise it is the last one."""
    files: list[DiffFile] = Field(default_factory=list)
    untracked: list[str] = Field(default_factory=list)
    """Safe to show; a folder of nothing but such files is one entry."""
    text: str = ""
    """As git writes it, with whatever the files hold: to be cleaned by whoever shows it."""
    cut: bool = False
    """There is more than this."""
    unknown: str | None = None
    """Why git could not be asked; everything else is empty then."""
