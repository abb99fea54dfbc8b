"""`GET /v1/course/NAME`: how full an agent's context was, over every session of its job.

Readings only, of the sessions' own records; what cannot be known has no points and says why.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from pydantic import Field

from cockpit.wire.status import MarksStatus, Wire


class CoursePoint(NamedTuple):
    """One reading; a list of four on the wire."""

    call: int
    """How many replies of the session there had been."""
    tokens: int
    kind: Literal["reply", "compacted"] = "reply"
    """At `compacted`, the tokens before the compaction; what is there then is not known."""
    at: float | None = None
    """Unix seconds, where the record says so."""


class Stretch(Wire):
    """One session, in the order of the chain."""

    session: str
    number: int
    state: str
    """As in `history`: `live`, `handed_off`, `ended`, `undoing`, `undone`."""
    window: int | None = None
    compacts_at: int | None = None
    compacts_at_source: Literal["formula", "seen"] | None = None
    """As in `ContextStatus`."""
    marks: MarksStatus = Field(default_factory=MarksStatus)
    points: list[CoursePoint] = Field(default_factory=list)
    """In order; at most 512, thinned out evenly over the replies."""
    unknown: str | None = None
    """Why there are no points, where a record should have had some."""


class Course(Wire):
    agent: str
    stretches: list[Stretch] = Field(default_factory=list)
