"""The state of a blocked handoff: start of the block, reason, and next retry.

A blocked handoff is not cancelled, because the problem may go away: disk space is freed, or tmux
answers again. A retry repeats the commands of the handoff's current state, as a restart of the
supervisor does.
"""

from __future__ import annotations

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import CockpitError

SHORTEST, LONGEST = 0.3, 5.0
"""Minimum and maximum seconds between two retries of a blocked handoff. The delay grows with the
time since the first failure."""
SHOWN_AFTER = 3.0
"""Seconds after which the screen shows that a handoff is blocked."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """The cause and times of a blocked handoff. Times are monotonic seconds."""

    since: float
    why: str
    again: float

    def is_shown(self, now: float) -> bool:
        """Return whether the handoff has been blocked for `SHOWN_AFTER` seconds."""
        return now - self.since >= SHOWN_AFTER


def blocked_after(before: Blocked | None, wrong: Exception, now: float) -> Blocked:
    """Return the blocked state after another failed attempt."""
    since = before.since if before else now
    wait = min(max(SHORTEST, (now - since) / 2), LONGEST)
    return Blocked(since, reason_of(wrong), now + wait)


def reason_of(wrong: Exception) -> str:
    """Return the error's text as one line."""
    if isinstance(wrong, CockpitError):
        return ". ".join(part.rstrip(".") for part in (wrong.title, wrong.detail) if part)
    return str(wrong) if isinstance(wrong, OSError) else f"{wrong!r}; see the log"
