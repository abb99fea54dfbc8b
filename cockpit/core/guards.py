"""When a handoff that is due may begin: what is rested, grown, fresh, over a limit, in turn.

Rules on numbers; whoever has the numbers asks. Every answer is for the user as well, so what
holds back is a clause that can stand on a row.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cockpit.core.handoff.events import Turn
from cockpit.core.plurals import counted

GROWTH = 0.10
"""Of the window: so much more must be used before a question that was answered is put again."""
STALE = 120.0
"""Seconds after which the reading of an agent that works says nothing of now."""


@dataclass(frozen=True, slots=True)
class Left:
    """How things stood when the last handoff of a session ended without a swap of it."""

    tokens: int | None = None
    forced: bool = False
    """The context was in the force band already."""
    turns: int = 0
    elapsed: float | None = None
    """Seconds since then; None when the machine was started anew since."""


def too_soon(left: Left, cooldown: float) -> str | None:
    """Why nothing is begun yet after the last one ended."""
    if left.elapsed is None or left.elapsed >= cooldown:
        return None
    return f"the last handoff has just ended; nothing is begun for {cooldown:.0f} s"


def not_grown(left: Left, tokens: int | None, window: int | None, *, forced: bool) -> str | None:
    """Why a question that was answered is not put again; the force band puts it once more."""
    if left.tokens is None or tokens is None or not window or (forced and not left.forced):
        return None
    missing = left.tokens + int(window * GROWTH) - tokens
    if missing <= 0:
        return None
    return f"the last handoff was cancelled; asking again in {(missing + 999) // 1000}k tokens"


def is_stale(turn: Turn, age: float | None) -> bool:
    """Whether a reading is too old to act on; that of an agent at rest never is."""
    at_rest = turn in (Turn.IDLE, Turn.DIALOG)
    return age is None or (not at_rest and age > STALE)


def limit_reached(turns: int, most: int, age: float | None, longest: float) -> str | None:
    """Which of a session's limits is reached, in words; 0 is no limit."""
    if most and turns >= most:
        return f"{counted(turns, 'turn')} of at most {most}"
    if longest and age is not None and age >= longest:
        return f"{_long(age)} of at most {_long(longest)}"
    return None


def _long(seconds: float) -> str:
    for size, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{seconds:.0f} s"


def queued(busy: Iterable[str], ahead: Iterable[str], most: int) -> str | None:
    """Why a handoff must wait for others: `ahead` came before it and waits for the same."""
    before = sorted({*busy, *ahead})
    return f"queued behind {', '.join(before)}" if len(before) >= most else None
