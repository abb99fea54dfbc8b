from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.core.bands import (
    FORCE_RESERVE,
    MARK_NAMES,
    RESERVE,
    Band,
    Threshold,
    Thresholds,
    band,
    band_from_tool_calls,
    check_order,
    marks,
    parse_threshold,
)
from cockpit.core.errors import BadUsage

DEFAULTS = Thresholds()


@pytest.mark.parametrize(
    ("written", "at_200k", "at_1m"),
    [
        ("70%", 140_000, 700_000),
        (" 70 % ", 140_000, 700_000),
        ("62.5%", 125_000, 625_000),
        ("130k", 130_000, 130_000),
        ("130K", 130_000, 130_000),
        ("130000", 130_000, 130_000),
        ("130_000", 130_000, 130_000),
        ("130,000", 130_000, 130_000),
        ("0.5M", 500_000, 500_000),
        ("30% left", 140_000, 700_000),
        ("30% LEFT", 140_000, 700_000),
        ("60k left", 140_000, 940_000),
    ],
)
def test_a_threshold_is_read_as_the_pilot_writes_it(written: str, at_200k: int, at_1m: int) -> None:
    threshold = parse_threshold(written)
    assert threshold.tokens(200_000) == at_200k
    assert threshold.tokens(1_000_000) == at_1m


@pytest.mark.parametrize(
    "written",
    [
        "",
        "70",
        "0.7",
        "0.10",
        "0%",
        "101%",
        "-5%",
        "70 percent",
        "left",
        "k",
        "1e6",
        "٧٠%",
        "9" * 400,
    ],
)
def test_what_cannot_be_meant_is_refused_with_the_spellings_that_work(written: str) -> None:
    with pytest.raises(BadUsage) as refused:
        parse_threshold(written)
    assert '"70%"' in refused.value.hint


@given(st.text(max_size=30))
def test_any_text_is_a_threshold_or_a_refusal(text: str) -> None:
    try:
        threshold = parse_threshold(text)
    except BadUsage:
        return
    assert isinstance(threshold.tokens(200_000), int)


def test_the_defaults_on_a_200k_window() -> None:
    found = marks(DEFAULTS, 200_000, 167_000)
    assert [getattr(found, name).tokens for name in MARK_NAMES] == [
        100_000, 120_000, 140_000, 160_000,
    ]  # fmt: skip
    assert found.act.why == "70% of 200k"
    assert found.force.why == "80% of 200k"


def test_the_caps_hold_on_large_windows_only() -> None:
    found = marks(DEFAULTS, 1_000_000, 967_000)
    assert [getattr(found, name).tokens for name in MARK_NAMES] == [
        200_000, 250_000, 300_000, 400_000,
    ]  # fmt: skip
    assert found.act.why == "cap 300k"
    just_below = marks(DEFAULTS, 499_999)
    assert just_below.act.tokens == 349_999


def test_every_mark_stays_20k_below_the_compaction_point() -> None:
    found = marks(DEFAULTS, 200_000, 130_000)
    assert (found.notice.tokens, found.notice.why) == (100_000, "50% of 200k")
    for name in ("warn", "act"):
        assert getattr(found, name).tokens == 110_000
        assert getattr(found, name).why == "20k before compaction at 130k"
    assert (found.force.tokens, found.force.why) == (125_000, "5k before compaction at 130k")


def test_a_force_mark_written_beyond_the_compaction_point_is_lowered_and_says_so() -> None:
    late = Thresholds(force=parse_threshold("20k left"), explicit=frozenset({"force"}))
    found = marks(late, 200_000, 167_000)
    assert (found.force.tokens, found.force.why) == (162_000, "5k before compaction at 167k")
    assert found.act.tokens == 140_000


def test_a_default_above_a_written_mark_is_lowered_and_says_so() -> None:
    early = Thresholds(act=parse_threshold("40%"), explicit=frozenset({"act"}))
    found = marks(early, 200_000, 167_000)
    assert (found.warn.tokens, found.notice.tokens) == (80_000, 80_000)
    assert found.warn.why == "lowered to act (40% of 200k)"


def test_what_the_pilot_wrote_out_of_order_is_refused() -> None:
    wrong = Thresholds(
        warn=parse_threshold("75%"),
        act=parse_threshold("60k left"),
        explicit=frozenset({"warn", "act"}),
    )
    with pytest.raises(BadUsage, match="warn is higher than act"):
        check_order(wrong)


def test_what_the_pilot_wrote_beside_a_default_is_not_refused() -> None:
    check_order(Thresholds(warn=parse_threshold("75%"), explicit=frozenset({"warn"})))
    check_order(DEFAULTS)


def test_caps_out_of_order_are_refused() -> None:
    wrong = Thresholds(
        cap_notice=parse_threshold("500k"),
        cap_force=parse_threshold("400k"),
        explicit=frozenset({"cap_notice", "cap_force"}),
    )
    with pytest.raises(BadUsage, match="cap_notice is higher than cap_force"):
        check_order(wrong)


SPELLINGS = st.one_of(
    st.integers(1, 100).map(lambda n: f"{n}%"),
    st.integers(1, 100).map(lambda n: f"{n}% left"),
    st.integers(1, 2_000).map(lambda n: f"{n}k"),
    st.integers(1, 2_000).map(lambda n: f"{n}k left"),
).map(parse_threshold)


@given(
    st.lists(SPELLINGS, min_size=4, max_size=4),
    st.integers(1, 2_000_000),
    st.none() | st.integers(1, 2_000_000),
)
def test_marks_are_total_in_order_and_never_too_close_to_compaction(
    written: list[Threshold], window: int, compacts_at: int | None
) -> None:
    found = marks(Thresholds(written[0], written[1], written[2], written[3]), window, compacts_at)
    order = [getattr(found, name).tokens for name in MARK_NAMES]
    assert order == sorted(order)
    assert order[0] >= 1
    if compacts_at is not None:
        assert order[2] <= max(1, compacts_at - RESERVE)
        assert order[3] <= max(1, compacts_at - FORCE_RESERVE)


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (0, Band.CALM),
        (99_999, Band.CALM),
        (100_000, Band.NOTICE),
        (120_000, Band.WARN),
        (139_999, Band.WARN),
        (140_000, Band.ACT),
        (159_999, Band.ACT),
        (160_000, Band.FORCE),
        (900_000, Band.FORCE),
        (None, Band.UNKNOWN),
    ],
)
def test_a_reading_on_a_mark_belongs_to_the_band_above(tokens: int | None, expected: Band) -> None:
    assert band(tokens, marks(DEFAULTS, 200_000, 167_000)) is expected


def test_without_marks_nothing_is_calm() -> None:
    assert band(5, None) is Band.UNKNOWN


def test_tool_calls_warn_at_most() -> None:
    assert band_from_tool_calls(499, 500) is Band.UNKNOWN
    assert band_from_tool_calls(500, 500) is Band.WARN
    assert band_from_tool_calls(50_000, 500) is Band.WARN
    assert band_from_tool_calls(50_000, 0) is Band.UNKNOWN


def test_severity_orders_the_bands() -> None:
    assert sorted(Band, key=lambda b: b.severity) == [
        Band.UNKNOWN, Band.CALM, Band.NOTICE, Band.WARN, Band.ACT, Band.FORCE,
    ]  # fmt: skip
