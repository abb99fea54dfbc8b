"""`GET /v1/course/NAME`: an agent's context history, over all sessions of its job.

The token counts come from the sessions' transcripts.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from pydantic import Field

from cockpit.wire.status import MarksStatus, Wire


class CoursePoint(NamedTuple):
    """The token count at one reply; on the wire, a list of four values."""

    call: int
    """Number of the reply in the session."""
    tokens: int
    kind: Literal["reply", "compacted"] = "reply"
    """For `compacted`, `tokens` is the count before the compaction; the count after it is
    unknown."""
    at: float | None = None
    """When the reply was written, in unix seconds; null if the transcript has no time."""


class Stretch(Wire):
    """One session of the job."""

    session: str
    number: int
    state: str
    """The session's state, as in `history`: `live`, `handed_off`, `ended`, `undoing`,
    `undone` or `failed`."""
    window: int | None = None
    compacts_at: int | None = None
    compacts_at_source: Literal["formula", "seen"] | None = None
    """Source of `compacts_at`: `formula` (the CLI's formula) or `seen` (observed with this CLI)."""
    marks: MarksStatus = Field(default_factory=MarksStatus)
    points: list[CoursePoint] = Field(default_factory=list)
    """The token counts in order, spread evenly over the replies; at most 512, and fewer if the job
    has many sessions."""
    unknown: str | None = None
    """Why there are no token counts; null if there are some."""


class Course(Wire):
    agent: str
    stretches: list[Stretch] = Field(default_factory=list)
    """The sessions of the job, oldest first."""
    limits: list[str] = Field(default_factory=list)
    """The missing capabilities of the CLI of the agent's session, each with the reason."""
