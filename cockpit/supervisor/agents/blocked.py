"""A handoff that cannot continue for now: since when, the reason, and the next retry.

It is not cancelled, because the cause may pass: the disk gets space, tmux answers again. A retry
repeats the commands of the current state, as after a restart.
"""

from __future__ import annotations

from dataclasses import dataclass

from cockpit.core.errors import CockpitError

SHORTEST, LONGEST = 0.3, 5.0
"""Seconds between two retries; the wait grows with the time since the first failure."""
SHOWN_AFTER = 3.0
"""Seconds after which the row shows it; shorter problems are not shown."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """The cause and times of a blocked handoff. Times are monotonic seconds."""

    since: float
    why: str
    again: float

    def is_shown(self, now: float) -> bool:
        """Whether it has lasted long enough to be shown to the user."""
        return now - self.since >= SHOWN_AFTER


def blocked_after(before: Blocked | None, wrong: Exception, now: float) -> Blocked:
    """The blocked state after another failure."""
    since = before.since if before else now
    wait = min(max(SHORTEST, (now - since) / 2), LONGEST)
    return Blocked(since, reason_of(wrong), now + wait)


def reason_of(wrong: Exception) -> str:
    """The reason in one line."""
    if isinstance(wrong, CockpitError):
        return ". ".join(part.rstrip(".") for part in (wrong.title, wrong.detail) if part)
    return str(wrong) if isinstance(wrong, OSError) else f"{wrong!r}; see the log"
