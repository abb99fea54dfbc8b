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
"""After a refused or cancelled handoff, the user is asked again at the latest when the context has
grown by this share of the window."""
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
    refused: bool = False
    """Whether the user, or an agent with the permission, refused the handoff."""


def too_soon(left: Left, cooldown: float) -> str | None:
    """Return why no handoff may begin yet, if the last one ended less than `cooldown` seconds ago;
    else None."""
    if left.elapsed is None or left.elapsed >= cooldown:
        return None
    return f"the last handoff ended less than {cooldown:.0f} s ago"


@dataclass(frozen=True, slots=True)
class NextTry:
    """When the next handoff of the session may begin."""

    tokens: int
    compaction: bool = False
    """Whether the CLI compacts at `tokens`. Then the handoff begins only if the CLI does not."""


def next_try(
    left: Left, window: int | None, force_at: int | None, compacts_at: int | None
) -> NextTry | None:
    """Return the token count at which the next handoff may begin; None if it is unknown.

    The context must have grown by `GROWTH` after the last handoff, or have entered the force band
    or reached the compaction point since then. `force_at` and `compacts_at` are token counts; None
    if they are unknown.
    """
    if left.tokens is None or not window:
        return None
    tokens = left.tokens + int(window * GROWTH)
    if force_at is not None and not left.forced:
        tokens = min(tokens, force_at)
    if compacts_at is not None and left.tokens < compacts_at <= tokens:
        return NextTry(compacts_at, compaction=True)
    return NextTry(tokens)


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
