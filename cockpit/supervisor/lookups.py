"""What is looked up about one agent when somebody asks: its course, its diff. Only looks."""

from __future__ import annotations

from cockpit.supervisor.seat import Seat
from cockpit.supervisor.supervisor import Supervisor
from cockpit.wire.course import Course
from cockpit.wire.diff import DiffFile, WorktreeDiff


async def course(supervisor: Supervisor, seat: Seat) -> Course:
    """How full the context was, over every session of the job."""
    return await supervisor.courses.of(seat)


async def diff(supervisor: Supervisor, seat: Seat, *, of_job: bool) -> WorktreeDiff:
    """How the agent's directory differs from the last commit, or from where its job began."""
    base = seat.job.base_commit if seat.job and of_job else None
    found = await supervisor.instruments.worktrees.diff(seat.directory, since_commit=base)
    return WorktreeDiff(
        directory=str(seat.directory),
        since=found.base,
        of_job=base is not None and found.base == base,
        files=[
            DiffFile(path=each.path, added=each.added, removed=each.removed) for each in found.files
        ],
        untracked=list(found.untracked),
        text=found.text,
        cut=found.cut,
        unknown=found.unknown,
    )
