"""Collect the standing orders and corrections in a session's prompts."""

from __future__ import annotations

from cockpit.core.collectors.bounded import remember
from cockpit.core.facts import Constraint
from cockpit.core.standing_orders import standing_orders

CONSTRAINTS_KEPT = 40
"""Maximum orders and corrections that are kept for one session. The oldest are dropped."""
OF_ONE_PROMPT = 12
"""Maximum orders and corrections that are taken from one prompt; the first are taken. A prompt with
more is probably a document."""


class ConstraintCollector:
    """Keeps each order or correction once, with the latest turn in which the user wrote it."""

    __slots__ = ("_constraints",)

    def __init__(self) -> None:
        self._constraints: dict[str, Constraint] = {}

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        return tuple(self._constraints.values())

    def said(self, prompt: str, turn: int) -> None:
        for sentence in standing_orders(prompt)[:OF_ONE_PROMPT]:
            key = " ".join(sentence.casefold().split())
            self._constraints.pop(key, None)
            remember(self._constraints, key, Constraint(turn, sentence), CONSTRAINTS_KEPT)
