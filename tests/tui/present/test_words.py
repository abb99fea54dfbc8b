"""Numbers and times as a user reads them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cockpit.tui.present import words


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (None, "–"),
        (0, "0"),
        (999, "999"),
        (1_000, "1k"),
        (9_500, "9.5k"),
        (9_960, "10k"),
        (142_000, "142k"),
        (999_400, "999k"),
        (999_600, "1M"),
        (1_000_000, "1M"),
        (1_250_000, "1.2M"),
    ],
)
def test_tokens(count: int | None, said: str) -> None:
    assert words.tokens(count) == said


@pytest.mark.parametrize(
    ("share", "said"), [(None, "–"), (0.0, "0%"), (0.001, "1%"), (0.714, "71%"), (1.3, "130%")]
)
def test_percent_is_not_capped_and_a_little_is_not_nothing(share: float | None, said: str) -> None:
    assert words.percent(share) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(None, "–"), (0, "now"), (59.9, "now"), (60, "1m"), (3_599, "59m"), (3_600, "1h"),
     (172_799, "47h"), (172_800, "2d")],
)  # fmt: skip
def test_an_age_changes_by_the_minute(seconds: float | None, said: str) -> None:
    assert words.age(seconds) == said


def test_a_time_that_is_none_gives_no_age() -> None:
    now = datetime(2026, 11, 21, 20, 0, tzinfo=UTC)
    assert words.seconds_since("2026-11-21T19:59:00Z", now) == 60
    assert words.seconds_since("2026-11-21T20:05:00Z", now) == 0
    for nonsense in (None, "", "yesterday", "2026-11-21T19:59:00"):
        assert words.seconds_since(nonsense, now) is None
