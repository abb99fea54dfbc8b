"""Decide after a delivery attempt whether a message is delivered, retried or given up.

Times are in seconds. The random number is an argument, to make the rules testable.
"""

from __future__ import annotations

from cockpit.core.deferred_dataclass import dataclass

FIRST_WAIT = 5.0
LONGEST_WAIT = 3600.0
LONGEST_LIFE = 86_400.0
"""Maximum age of a message at an attempt, in seconds."""
RETRIED_STATUSES = frozenset({408, 425, 429})
"""The statuses from 300 to 499 after which a message is retried instead of given up."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The server's response to one attempt."""

    status: int | None = None
    """The HTTP status; None if there was no response."""
    retry_after: float | None = None
    """Seconds to wait, from the response's `Retry-After` header; None without this header."""
    problem: str = ""
    """A short description of the error, without the URL; empty on success."""
    permanent: bool = False
    """Whether the message can never be delivered, for example because cockpit refuses its URL."""
    body: bytes = b""
    """The beginning of the response's body, if the caller needs it."""
    thread: str | None = None
    """The chat thread of the message, if the response contains it."""
    thread_gone: bool = False
    """Whether the thread of the message no longer exists."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """The message was delivered."""


@dataclass(frozen=True, slots=True)
class Again:
    """The message is sent again after `seconds`."""

    seconds: float


@dataclass(frozen=True, slots=True)
class GivenUp:
    """The message is not sent again."""

    why: str


def after(answer: Answer, attempt: int, age: float, chance: float) -> Delivered | Again | GivenUp:
    """Decide whether a message is delivered, sent again or given up, from the server's response.

    `attempt` begins at 1; `age` is the message's age in seconds. The maximum wait doubles with each
    attempt, up to `LONGEST_WAIT`. The actual wait is a random part of the maximum
    (`chance`, 0 to 1), so that many supervisors do not retry at the same time. `retry_after` is
    added to the wait.
    """
    status = answer.status
    if status is not None and 200 <= status < 300:
        return Delivered()
    if answer.permanent:
        return GivenUp(answer.problem)
    if status is not None and 300 <= status < 500 and status not in RETRIED_STATUSES:
        return GivenUp(_refusal(status))
    wait = chance * min(FIRST_WAIT * 2 ** min(attempt - 1, 20), LONGEST_WAIT)
    if answer.retry_after is not None:
        wait += answer.retry_after
    if age + wait > LONGEST_LIFE:
        return GivenUp(f"not delivered within a day: {answer.problem}")
    return Again(wait)


def _refusal(status: int) -> str:
    return "redirects are not followed" if status < 400 else f"refused with HTTP status {status}"
