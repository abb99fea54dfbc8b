"""Where a CLI compacts by itself: its formula, corrected by what was seen of it.

The formula is the CLI's own, but accounts and gateways were seen at which 2.1.330 goes past it
and compacts only when the API refuses the request. What was seen last counts. Tokens are those
of a model's last reply.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

PointSource = Literal["formula", "seen"]


@dataclass(frozen=True, slots=True)
class SeenPoint:
    """What was seen of one model, CLI version and window, by whichever session."""

    passed: int | None = None
    """The most tokens with which another request went out, and nothing was compacted."""
    compacted: int | None = None
    """The least tokens at which the CLI compacted by itself."""

    def after_pass(self, tokens: int) -> SeenPoint:
        """With a request that went out at so many tokens."""
        still = self.compacted if self.compacted is None or tokens < self.compacted else None
        return SeenPoint(max(tokens, self.passed or 0), still)

    def after_compaction(self, tokens: int) -> SeenPoint:
        """With a compaction at so many tokens."""
        least = tokens if self.compacted is None else min(tokens, self.compacted)
        passed = self.passed if self.passed is None or self.passed < least else None
        return replace(self, passed=passed, compacted=least)


def compaction_point(
    formula: int | None, window: int, seen: SeenPoint
) -> tuple[int | None, PointSource | None]:
    """Where the CLI compacts and how that is known; both None where it does not.

    A compaction that the formula explains confirms the formula: a step may have jumped past it.
    """
    if seen.compacted is not None:
        explains = formula is not None and (seen.passed or 0) < formula <= seen.compacted
        return (formula if explains else seen.compacted), "seen"
    if formula is None:
        return None, None
    if seen.passed is not None and seen.passed >= formula:
        return window, "seen"
    return formula, "formula"
