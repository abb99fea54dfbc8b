"""What becomes of a message after an attempt to deliver it: it is done, tried again, or given up.

Times are seconds. Chance comes in as a number, so that every rule can be tried at once.
"""

from __future__ import annotations

from dataclasses import dataclass

FIRST_WAIT = 5.0
LONGEST_WAIT = 3600.0
LONGEST_LIFE = 86_400.0
"""Seconds after which a message is no news any more."""
LAST_WORDS = frozenset({408, 425, 429})
"""Refusals that mean: later. Every other one from 300 to 499 means: never."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the other side said to one attempt."""

    status: int | None = None
    """None when nothing was heard at all."""
    retry_after: float | None = None
    problem: str = ""
    """In a few words, without the address; empty when it went well."""
    hopeless: bool = False
    """It can never go well: the address itself is refused."""
    said: bytes = b""
    """The beginning of what came with it, where somebody wants to know."""
    thread: str | None = None
    """The chat's thread that the message is in, where the answer names it."""
    thread_gone: bool = False
    """The thread that the message was for does not exist any more."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """The other side has it."""


@dataclass(frozen=True, slots=True)
class Again:
    """It is tried again after so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class GivenUp:
    """It is not tried again."""

    why: str


def after(answer: Answer, attempt: int, age: float, chance: float) -> Delivered | Again | GivenUp:
    """What follows from an answer to the attempt of that number, from 1.

    Waits grow by doubling and are drawn at random below that (`chance` is 0 to 1), so that many
    supervisors do not come back together; what the other side asked for is obeyed.
    """
    status = answer.status
    if status is not None and 200 <= status < 300:
        return Delivered()
    if answer.hopeless:
        return GivenUp(answer.problem)
    if status is not None and 300 <= status < 500 and status not in LAST_WORDS:
        return GivenUp(_refused(status))
    wait = chance * min(FIRST_WAIT * 2 ** min(attempt - 1, 20), LONGEST_WAIT)
    if answer.retry_after is not None:
        wait += answer.retry_after
    if age + wait > LONGEST_LIFE:
        return GivenUp(f"it could not be delivered for a day: {answer.problem}")
    return Again(wait)


def _refused(status: int) -> str:
    return "redirects are not followed" if status < 400 else f"it was refused with {status}"
