"""A handoff that cannot go on for now: since when, why, and when it is tried again.

Nothing is given up for it: a disk gets space again, a multiplexer answers again. What is done again
is what a supervisor does that comes back.
"""

from __future__ import annotations

from dataclasses import dataclass

from cockpit.core.errors import CockpitError

SHORTEST, LONGEST = 0.3, 5.0
"""Seconds between two tries; they become longer as it lasts."""
TOLD_AFTER = 3.0
"""Seconds after which the user is asked to look; shorter troubles mend themselves."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """Times are monotonic seconds."""

    since: float
    why: str
    again: float

    def is_told(self, now: float) -> bool:
        """Whether it has lasted long enough to be the user's business."""
        return now - self.since >= TOLD_AFTER


def stalled(before: Blocked | None, wrong: Exception, now: float) -> Blocked:
    """The stall after one more failure."""
    since = before.since if before else now
    wait = min(max(SHORTEST, (now - since) / 2), LONGEST)
    return Blocked(since, words(wrong), now + wait)


def words(wrong: Exception) -> str:
    """Why, in one line."""
    if isinstance(wrong, CockpitError):
        return ". ".join(part.rstrip(".") for part in (wrong.title, wrong.detail) if part)
    return str(wrong) if isinstance(wrong, OSError) else f"{wrong!r}; see the log"
