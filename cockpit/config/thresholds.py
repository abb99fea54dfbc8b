"""Convert the user's thresholds to the types of `core.bands`."""

from __future__ import annotations

from cockpit.config.schema import ContextSettings
from cockpit.core.bands import MARK_NAMES, Thresholds, check_order, parse_threshold
from cockpit.core.reading import DEFAULT_WINDOW


def thresholds(context: ContextSettings) -> Thresholds:
    """Return one agent's thresholds, and the names of those that a file sets."""
    own, cap = context, context.cap
    return Thresholds(
        notice=parse_threshold(own.notice),
        warn=parse_threshold(own.warn),
        act=parse_threshold(own.act),
        force=parse_threshold(own.force),
        cap_notice=parse_threshold(cap.notice),
        cap_warn=parse_threshold(cap.warn),
        cap_act=parse_threshold(cap.act),
        cap_force=parse_threshold(cap.force),
        explicit=explicit(context),
    )


def explicit(context: ContextSettings) -> frozenset[str]:
    """Return the names of the thresholds that a file sets: `act`, `cap_act`, …; the rest are
    defaults.
    """
    own = context.model_fields_set.intersection(MARK_NAMES)
    caps = context.cap.model_fields_set.intersection(MARK_NAMES)
    return frozenset(own.union(f"cap_{name}" for name in caps))


def check_marks(context: ContextSettings) -> None:
    """Raise `BadUsage` if thresholds that the user wrote are out of order.

    They are checked for the configured window, else the usual one: "150k" is above "70%" of 200,000
    tokens, and below "70%" of a million.
    """
    check_order(thresholds(context), context.override or DEFAULT_WINDOW)
