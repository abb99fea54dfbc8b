"""Decide when a due handoff may begin: cooldown, growth, age, limits and queue.

The functions return a reason as a clause, which the screen shows on the agent's row.
"""

from __future__ import annotations

from collections.abc import Iterable

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.handoff.events import Turn
from cockpit.core.plurals import counted
from cockpit.core.timestamps import duration

GROWTH = 0.10
"""After a refused or cancelled handoff, the user is asked again when the context has grown by this
share of the window."""
STALE = 120.0
"""Seconds after which the token count of an agent that is neither idle nor in a dialog is too old
to act on."""


@dataclass(frozen=True, slots=True)
class Left:
    """The state of a session when its last handoff ended without a new session."""

    tokens: int | None = None
    forced: bool = False
    """Whether the context was in the force band."""
    turns: int = 0
    elapsed: float | None = None
    """Seconds since the handoff ended; None if unknown, as after a reboot of the machine."""


def too_soon(left: Left, cooldown: float) -> str | None:
    """Return why no handoff may begin yet, if the last one ended less than `cooldown` seconds ago;
    else None."""
    if left.elapsed is None or left.elapsed >= cooldown:
        return None
    return f"the last handoff ended less than {cooldown:.0f} s ago"


def not_grown(left: Left, tokens: int | None, window: int | None, *, forced: bool) -> str | None:
    """Return the reason not to ask the user again yet; None if cockpit may ask.

    cockpit may ask when the context has grown by `GROWTH` or entered the force band after the last
    handoff, or if a number is unknown. `forced`: whether the context is in the force band now.
    """
    if left.tokens is None or tokens is None or not window or (forced and not left.forced):
        return None
    missing = left.tokens + int(window * GROWTH) - tokens
    if missing <= 0:
        return None
    return f"the last handoff did not complete; asking again in {(missing + 999) // 1000}k tokens"


def is_stale(turn: Turn, age: float | None) -> bool:
    """Return whether a token count is too old to act on. `age` is in seconds.

    An unknown age is too old. A known age is never too old for an agent that is idle or in a
    dialog.
    """
    at_rest = turn in (Turn.IDLE, Turn.DIALOG)
    return age is None or (not at_rest and age > STALE)


def limit_reached(turns: int, most: int, age: float | None, longest: float) -> str | None:
    """Return a text about the limit that a session has reached; None if it has reached none.

    A limit of 0 means no limit. `age` and `longest` are in seconds.
    """
    if most and turns >= most:
        return f"{counted(turns, 'turn')} of at most {most}"
    if longest and age is not None and age >= longest:
        return f"{duration(age)} of at most {duration(longest)}"
    return None


def queued(busy: Iterable[str], ahead: Iterable[str], most: int) -> str | None:
    """Return the reason if a handoff must wait for other handoffs; None if the handoff may begin.

    `busy` are the agents with a running handoff, `ahead` the agents before this one in the queue,
    and `most` is the maximum number of running handoffs.
    """
    before = sorted({*busy, *ahead})
    return f"queued behind {', '.join(before)}" if len(before) >= most else None
