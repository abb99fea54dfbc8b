"""Compute the band of an agent's context from the user's thresholds.

A `Threshold` is the user's setting, for a window of any size. A `Mark` is the number of tokens that
a threshold gives for one window.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import BadUsage
from cockpit.core.reading import DEFAULT_WINDOW

LARGE_FROM = 500_000
"""The caps of thresholds apply only to windows of at least this many tokens."""
RESERVE = 20_000
"""Minimum tokens from the notice, warn and act thresholds to the CLI's compaction point, so that a
handoff ends before the compaction."""
FORCE_RESERVE = 5_000
"""Minimum tokens from the force threshold to the CLI's compaction point."""


class Band(StrEnum):
    """The bands of context use, from the lowest to the highest, and `UNKNOWN`."""

    CALM = "calm"
    NOTICE = "notice"
    WARN = "warn"
    ACT = "act"
    FORCE = "force"
    UNKNOWN = "unknown"

    @property
    def severity(self) -> int:
        """The rank of the band: 0 for calm to 4 for force, -1 for unknown.

        For comparisons only.
        """
        return _SEVERITY[self]


_SEVERITY = {
    Band.UNKNOWN: -1,
    Band.CALM: 0,
    Band.NOTICE: 1,
    Band.WARN: 2,
    Band.ACT: 3,
    Band.FORCE: 4,
}

MarkName = Literal["notice", "warn", "act", "force"]
MARK_NAMES: tuple[MarkName, ...] = ("notice", "warn", "act", "force")
"""The names of the thresholds, from the lowest to the highest."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """A threshold as the user writes it, for a window of any size."""

    text: str
    """The threshold as the user wrote it, for messages."""
    amount: float
    """Number of tokens; if `share` is set, a share of the window from 0 to 1."""
    share: bool = False
    left: bool = False
    """Whether `amount` is counted from the end of the window: `30% left`."""

    def tokens(self, window_tokens: int) -> int:
        """Return the token count of this threshold in a window; can be negative or larger than the
        window."""
        amount = round(self.amount * window_tokens) if self.share else round(self.amount)
        return window_tokens - amount if self.left else amount


_WRITTEN = re.compile(
    r"(?P<number>[0-9]{1,12}(?:\.[0-9]{1,6})?)\s*(?P<unit>%|k|m)?(?P<left>\s+left)?",
    re.IGNORECASE,
)
_UNIT = {"k": 1_000.0, "m": 1_000_000.0}
_HINT = 'Write a percentage ("70%"), tokens ("130k", "130000"), or the remainder ("30% left").'


@lru_cache(maxsize=256)
def parse_threshold(text: str) -> Threshold:
    """Parse `70%`, `130k`, `1.5M`, `130000`, `30% left` or `20k left`. Cached.

    Raises `BadUsage`. Fewer than 1,000 tokens are refused, because a bare number below 1,000 could
    mean percent, thousands or a fraction.
    """
    written = text.strip()
    match = _WRITTEN.fullmatch(written.replace(",", "").replace("_", ""))
    if match is None:
        raise BadUsage(f"{text!a} is not a threshold", hint=_HINT)
    number, unit = float(match["number"]), (match["unit"] or "").lower()
    left = match["left"] is not None
    if unit == "%":
        if not 0 < number <= 100:
            raise BadUsage(f"{text!a} is not above 0% and at most 100%", hint=_HINT)
        return Threshold(written, number / 100, share=True, left=left)
    tokens = number * _UNIT.get(unit, 1.0)
    if tokens < 1_000:
        raise BadUsage(f"{text!a} has no unit, or is fewer than 1,000 tokens", hint=_HINT)
    return Threshold(written, tokens, left=left)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """All four thresholds of one agent, and the caps for large windows."""

    notice: Threshold = Threshold("50%", 0.5, share=True)
    warn: Threshold = Threshold("60%", 0.6, share=True)
    act: Threshold = Threshold("70%", 0.7, share=True)
    force: Threshold = Threshold("80%", 0.8, share=True)
    cap_notice: Threshold | None = Threshold("200k", 200_000)
    cap_warn: Threshold | None = Threshold("250k", 250_000)
    cap_act: Threshold | None = Threshold("300k", 300_000)
    cap_force: Threshold | None = Threshold("400k", 400_000)
    explicit: frozenset[str] = frozenset()
    """Field names (`act`, `cap_act`, …) that the user wrote; the rest are defaults."""

    def own(self, name: MarkName) -> Threshold:
        """Return the threshold of a band, ignoring the cap."""
        chosen: Threshold = getattr(self, name)
        return chosen

    def cap(self, name: MarkName) -> Threshold | None:
        """Return the cap of a band, which applies to large windows only; None without a cap."""
        chosen: Threshold | None = getattr(self, f"cap_{name}")
        return chosen


@dataclass(frozen=True, slots=True)
class Mark:
    """The number of tokens at which a band begins."""

    tokens: int
    why: str
    """The rule that gives this number, as text for the user: `70% of 200k`, `cap 300k`, …"""
    lowered: bool = False
    """Whether the threshold was lowered because the next threshold is lower."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The thresholds of one agent in tokens, in ascending order."""

    notice: Mark
    warn: Mark
    act: Mark
    force: Mark


def check_order(thresholds: Thresholds, window_tokens: int = DEFAULT_WINDOW) -> None:
    """Raise `BadUsage` if thresholds that the user wrote are out of order in a window of this size.

    Compares caps only with caps. Ignores defaults, because `marks` lowers a mark that is above the
    next one.
    """
    for prefix in ("", "cap_"):
        written = [
            (f"{prefix}{name}", threshold)
            for name in MARK_NAMES
            if f"{prefix}{name}" in thresholds.explicit
            and (threshold := getattr(thresholds, f"{prefix}{name}")) is not None
        ]
        for (low_name, low), (high_name, high) in pairwise(written):
            _refuse_if_out_of_order(low_name, low, high_name, high, window_tokens)


def _refuse_if_out_of_order(
    low_name: str, low: Threshold, high_name: str, high: Threshold, window: int
) -> None:
    below, above = low.tokens(window), high.tokens(window)
    if below > above:
        raise BadUsage(
            f"{low_name} is higher than {high_name}",
            f"{low_name} = {low.text!a} is {below:,} tokens of {window:,}, "
            f"{high_name} = {high.text!a} is {above:,}.",
            f"Lower {low_name}, or remove one of the two.",
        )


@lru_cache(maxsize=256)
def marks(thresholds: Thresholds, window_tokens: int, compacts_at: int | None = None) -> Marks:
    """Compute the thresholds in tokens for a window. Cached, because each new reading needs them.

    Each mark is the lowest of the threshold, its cap (in a window of at least `LARGE_FROM` tokens),
    the next mark, and `compacts_at` minus a reserve. `compacts_at` is the token count at which the
    CLI compacts automatically; None if it never does, or if the count is unknown. The reserve is
    `FORCE_RESERVE` for the force threshold, else `RESERVE`. Never fails: in a window that is too
    small, each mark is at least 1 token.
    """
    notice, warn, act, force = (
        _mark(name, thresholds, window_tokens, compacts_at) for name in MARK_NAMES
    )
    act = _lowered(act, "force", force)
    warn = _lowered(warn, "act", act)
    return Marks(_lowered(notice, "warn", warn), warn, act, force)


def _lowered(mark: Mark, above_name: str, above: Mark) -> Mark:
    if mark.tokens <= above.tokens:
        return mark
    return Mark(above.tokens, f"lowered to {above_name} ({above.why})", lowered=True)


def _mark(name: MarkName, thresholds: Thresholds, window: int, compacts_at: int | None) -> Mark:
    own, cap = thresholds.own(name), thresholds.cap(name)
    rules = [Mark(own.tokens(window), f"{own.text} of {_short(window)}" if own.share else own.text)]
    if cap is not None and window >= LARGE_FROM:
        rules.append(Mark(cap.tokens(window), f"cap {cap.text}"))
    if compacts_at is not None:
        reserve = FORCE_RESERVE if name == "force" else RESERVE
        why = f"{_short(reserve)} before compaction at {_short(compacts_at)}"
        rules.append(Mark(compacts_at - reserve, why))
    lowest = min(rules, key=lambda rule: rule.tokens)
    return Mark(max(1, lowest.tokens), lowest.why)


def _short(tokens: int) -> str:
    return f"{tokens // 1000}k" if tokens % 1000 == 0 else f"{tokens:,}"


def band(tokens: int | None, where: Marks | None) -> Band:
    """Return the band of a token count. A band includes the threshold at which it begins.

    `UNKNOWN` if the token count or the thresholds are None.
    """
    if tokens is None or where is None:
        return Band.UNKNOWN
    for name in reversed(MARK_NAMES):
        mark: Mark = getattr(where, name)
        if tokens >= mark.tokens:
            return Band(name)
    return Band.CALM


def band_from_tool_calls(count: int, limit: int) -> Band:
    """Return the band for a session whose token count is unknown.

    `WARN` from `limit` tool calls on, else `UNKNOWN`. A `limit` of 0 or less is never reached.
    """
    return Band.WARN if 0 < limit <= count else Band.UNKNOWN
