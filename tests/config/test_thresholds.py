"""The user's marks as rules."""

from __future__ import annotations

from typing import Any

import pytest

from cockpit.config.schema import ContextSettings
from cockpit.config.thresholds import check_marks, early_warnings, thresholds
from cockpit.core.bands import Thresholds, marks
from cockpit.core.errors import BadUsage


def test_the_defaults_are_those_of_the_rules_and_none_is_explicit() -> None:
    assert thresholds(ContextSettings()) == Thresholds()


def test_what_a_file_wrote_is_explicit_wherever_it_was_inherited_from(project: Any) -> None:
    agent = project.load_named(
        '[defaults.context]\nwarn = "55%"\n'
        '[[agents]]\nname = "a"\ncontext = { act = 120_000, cap = { force = "350k" } }\n'
    ).agent("a")
    rules = thresholds(agent.context)
    assert rules.explicit == {"warn", "act", "cap_force"}
    assert marks(rules, 200_000, 167_000).act.tokens == 120_000
    assert marks(rules, 1_000_000).force.tokens == 350_000


def test_a_default_beyond_a_written_mark_is_lowered_and_not_refused(project: Any) -> None:
    context = project.load_named('[defaults.context]\nact = "40%"\n').settings.defaults.context
    found = marks(thresholds(context), 200_000)
    assert (found.notice.tokens, found.warn.tokens, found.act.tokens) == (80_000, 80_000, 80_000)


def test_the_order_depends_on_the_window_that_the_pilot_names() -> None:
    written = {"warn": "150k", "act": "70%"}
    with pytest.raises(BadUsage, match="warn is higher than act"):
        check_marks(ContextSettings.model_validate(written))
    check_marks(ContextSettings.model_validate({**written, "window": "1M"}))


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ({"act": "65%"}, []),
        ({"warn": "40%"}, ["warn is below notice: notice begins at 80k of 200k too."]),
        (
            {"force": "65%"},
            ["force is below act: act begins at 130k of 200k too, so each handoff interrupts the "
             "turn."],
        ),
        (
            {"notice": "30%", "act": "35%", "window": "100k"},
            ["act is below warn: warn begins at 35k of 100k too, so a handoff comes without a "
             "warning."],
        ),
    ],
)  # fmt: skip
def test_a_threshold_below_an_earlier_one_says_what_follows(
    written: dict[str, str], told: list[str]
) -> None:
    context = ContextSettings.model_validate(written)
    assert early_warnings(context, written.keys()) == told
