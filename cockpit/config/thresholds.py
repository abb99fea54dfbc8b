"""Convert the user's thresholds to the types of `core.bands`."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from cockpit.config.schema import ContextSettings
from cockpit.core.bands import (
    MARK_NAMES,
    MarkName,
    Thresholds,
    check_order,
    marks,
    parse_threshold,
)
from cockpit.core.reading import DEFAULT_WINDOW
from cockpit.core.token_counts import token_count


def thresholds(context: ContextSettings) -> Thresholds:
    """Return one agent's thresholds; `explicit` has the names of the thresholds that a file
    sets."""
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

    The window decides the order: "150k" is above "70%" of 200,000 tokens, and below "70%" of a
    million. Uses the configured window, else `DEFAULT_WINDOW`.
    """
    check_order(thresholds(context), context.override or DEFAULT_WINDOW)


def early_warnings(context: ContextSettings, names: Collection[str]) -> list[str]:
    """Return warnings about thresholds in `names` that are too low, such as act below warn.

    In this example, warn is a default: `check_marks` refuses two of the user's own thresholds in
    the wrong order. The warnings are for the configured window, else `DEFAULT_WINDOW`.
    """
    written, window = thresholds(context), context.override or DEFAULT_WINDOW
    applied = marks(written, window)
    warnings = []
    for place, name in enumerate(MARK_NAMES):
        here = getattr(applied, name)
        later = [
            low
            for low in MARK_NAMES[:place]
            if getattr(applied, low).lowered and written.own(low).tokens(window) > here.tokens
        ]
        if name in names and later and not here.lowered:
            warnings.append(_early_warning(name, later, here.tokens, window))
    return warnings


def _early_warning(name: MarkName, later: Sequence[MarkName], tokens: int, window: int) -> str:
    """Return a warning that `name`, at `tokens`, is below the thresholds `later`."""
    begins = "begins" if len(later) == 1 else "begin"
    effect = ""
    if name == "act" and "warn" in later:
        effect = ", so a handoff comes without a warning"
    elif name == "force" and "act" in later:
        effect = ", so each handoff interrupts the turn"
    listed = f"{', '.join(later[:-1])} and {later[-1]}" if len(later) > 1 else later[0]
    at = f"{token_count(tokens)} of {token_count(window)}"
    return f"{name} is below {listed}: {listed} {begins} at {at} too{effect}."
