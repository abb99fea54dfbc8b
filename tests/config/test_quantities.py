"""Durations and sizes."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.config.quantities import duration, size, spelled_duration


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("180s", 180), ("10m", 600), ("24h", 86400), ("0", 0), (90, 90), (0.5, 0.5), ("2d", 172800),
     ("250ms", 0.25), (" 1.5 h ", 5400)],
)  # fmt: skip
def test_durations_as_pilots_write_them(written: object, seconds: float) -> None:
    assert duration(written) == seconds


@pytest.mark.parametrize(
    "written",
    ["", "s", "-1s", "1 week", "1h30m", True, None, -3, float("inf"), float("nan"), [],
     "9" * 400 + "h"],
)  # fmt: skip
def test_what_is_no_duration_is_refused(written: object) -> None:
    with pytest.raises(ValueError, match="expected a duration"):
        duration(written)


@given(st.integers(0, 10**8))
def test_a_spelled_duration_reads_as_itself(seconds: int) -> None:
    assert duration(spelled_duration(seconds)) == seconds


@given(st.text(max_size=30))
def test_any_text_is_a_duration_or_a_value_error(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert duration(text) >= 0


def test_the_usual_spellings_stay() -> None:
    assert [spelled_duration(s) for s in (180, 600, 86400, 0, 0.5)] == [
        "180s", "10m", "24h", "0", "0.5s",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "tokens"),
    [
        ("200k", 200_000),
        ("1M", 1_000_000),
        (130_000, 130_000),
        ("200_000", 200_000),
        ("1.5k", 1500),
    ],
)
def test_sizes_as_pilots_write_them(written: object, tokens: int) -> None:
    assert size(written) == tokens


@pytest.mark.parametrize("written", ["", "k", "-5", "1g", True, -1, 1.5, None])
def test_what_is_no_size_is_refused(written: object) -> None:
    with pytest.raises(ValueError, match="expected a number of tokens"):
        size(written)
