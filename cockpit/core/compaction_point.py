"""The token count at which a CLI compacts automatically: a formula, corrected by observations.

The CLI itself uses the formula. With some accounts and gateways, however, Claude Code 2.1.330
compacts only when the API refuses the request, at a higher count. An observation overrides earlier
observations that contradict it. Token counts are those of the model's last reply.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from cockpit.core.deferred_dataclass import dataclass

PointSource = Literal["formula", "seen"]


@dataclass(frozen=True, slots=True)
class SeenPoint:
    """Token counts at which one CLI version did and did not compact, for one model and window."""

    passed: int | None = None
    """The highest token count at which the CLI sent a request without compacting; None if
    unknown."""
    compacted: int | None = None
    """The lowest token count at which the CLI compacted automatically; None if unknown."""

    def after_pass(self, tokens: int) -> SeenPoint:
        """Return the observations with one more request that was sent at this number of tokens."""
        compacted = self.compacted if self.compacted is None or tokens < self.compacted else None
        return SeenPoint(max(tokens, self.passed or 0), compacted)

    def after_compaction(self, tokens: int) -> SeenPoint:
        """Return the observations with one more compaction at this number of tokens."""
        least = tokens if self.compacted is None else min(tokens, self.compacted)
        passed = self.passed if self.passed is None or self.passed < least else None
        return replace(self, passed=passed, compacted=least)


def compaction_point(
    formula: int | None, window: int, seen: SeenPoint
) -> tuple[int | None, PointSource | None]:
    """Return the token count at which the CLI compacts, and the source of that count.

    `formula` is the formula's value; None if the CLI never compacts or the value is unknown.

    If a compaction was observed, the count is `formula` if the observations agree with the formula,
    else the count of the observed compaction. The observations agree if the CLI compacted at or
    above `formula` (one step can add many tokens), and sent every request without compaction below
    `formula`.

    If no compaction was observed, the count is `formula`. If the CLI nevertheless sent a request at
    or above `formula`, the count is the window's size. Both results are None if there is neither a
    formula nor an observed compaction.
    """
    if seen.compacted is not None:
        explains = formula is not None and (seen.passed or 0) < formula <= seen.compacted
        return (formula if explains else seen.compacted), "seen"
    if formula is None:
        return None, None
    if seen.passed is not None and seen.passed >= formula:
        return window, "seen"
    return formula, "formula"
