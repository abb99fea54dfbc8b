"""The usage limits of an account, as a CLI reports them."""

from __future__ import annotations

from collections.abc import Iterable

from cockpit.core.deferred_dataclass import dataclass

USED_UP = 0.995
"""Used share at which a limit counts as exhausted; below 1 because CLIs round."""


@dataclass(frozen=True, slots=True)
class RateLimit:
    """One usage limit of an account, and the share of the limit that is used."""

    name: str
    used: float
    """The share of the limit that is used, from 0 to 1."""
    resets_at: float | None
    """When the limit resets, in unix seconds; None if unknown."""


def exhausted_until(limits: Iterable[RateLimit]) -> float | None:
    """Return the latest reset time of the exhausted limits, in unix seconds.

    None if no limit is exhausted, or if no reset time of an exhausted limit is known.
    """
    times = [
        limit.resets_at for limit in limits if limit.used >= USED_UP and limit.resets_at is not None
    ]
    return max(times, default=None)
