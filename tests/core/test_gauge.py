"""The gauge: the newer word counts, the best witness gives the window, unknown stays unknown."""

from __future__ import annotations

from cockpit.core.gauge import Gauge
from cockpit.core.reading import LARGE_WINDOW, Confidence, Window

TABLE = Window(200_000, Confidence.DERIVED)


def test_nothing_is_known_before_anybody_speaks() -> None:
    reading = Gauge().reading
    assert (reading.tokens, reading.confidence, reading.source) == (None, Confidence.UNKNOWN, None)
    assert Gauge().window.confidence is Confidence.ASSUMED


def test_the_newer_word_counts() -> None:
    gauge = Gauge()
    assert gauge.set_tokens(10, "transcript", 1.0)
    assert gauge.set_tokens(20, "statusline", 2.0)
    assert not gauge.set_tokens(15, "transcript", 1.5)
    assert (gauge.tokens, gauge.source, gauge.at, gauge.peak) == (20, "statusline", 2.0, 20)
    assert gauge.set_tokens(5, "transcript", 3.0)
    assert (gauge.tokens, gauge.peak) == (5, 20)


def test_a_record_that_repeats_the_status_line_takes_nothing_from_it() -> None:
    gauge = Gauge()
    gauge.set_tokens(20, "statusline", 1.0)
    assert not gauge.set_tokens(20, "transcript", 2.0)
    assert (gauge.source, gauge.at) == ("statusline", 2.0)


def test_after_a_compaction_the_reading_is_unknown_until_a_later_word() -> None:
    gauge = Gauge()
    gauge.set_tokens(160_000, "statusline", 1.0)
    gauge.compacted(2.0, by_hook=True)
    assert gauge.reading.confidence is Confidence.UNKNOWN
    assert not gauge.set_tokens(160_000, "transcript", 1.5)
    assert not gauge.set_tokens(160_000, "transcript", 2.0)
    assert gauge.tokens is None
    assert gauge.set_tokens(9_000, "transcript", 2.1)
    assert gauge.reading.tokens == 9_000
    assert gauge.peak == 160_000


def test_the_transcript_knows_better_than_an_older_reading_what_was_compacted() -> None:
    gauge = Gauge()
    gauge.set_tokens(24_000, "statusline", 1.0)
    gauge.compacted(3.0, by_hook=True)
    assert gauge.before_compaction == 24_000
    gauge.compacted(2.0, 204_000)
    assert gauge.before_compaction == 204_000
    assert gauge.before_compaction == 204_000
    gauge = Gauge()
    gauge.compacted(2.0, 204_000)
    gauge.compacted(3.0, by_hook=True)
    assert gauge.before_compaction == 204_000


def test_the_count_before_a_compaction_is_never_that_of_an_earlier_one() -> None:
    gauge = Gauge()
    gauge.set_tokens(160_000, "statusline", 1.0)
    gauge.compacted(2.0, by_hook=True)
    gauge.compacted(2.1)
    assert gauge.before_compaction == 160_000
    gauge.compacted(3.0, by_hook=True)  # no reply, and so no reading, lies between them
    assert gauge.before_compaction is None
    gauge.compacted(3.1, 12_000)
    assert gauge.before_compaction == 12_000


def test_two_lines_of_a_transcript_for_one_compaction_keep_its_count() -> None:
    """As CLI 1.0 of Claude Code, and Gemini, write it."""
    gauge = Gauge()
    gauge.set_tokens(160_000, "transcript", 1.0)
    gauge.compacted(2.0)
    gauge.compacted(2.1)
    assert gauge.before_compaction == 160_000


def test_the_window_comes_from_the_best_witness() -> None:
    gauge = Gauge()
    gauge.derive_window(TABLE)
    assert gauge.window == TABLE
    gauge.report_window(150_000)
    assert gauge.window == Window(150_000, Confidence.REPORTED)
    gauge.override = 100_000
    assert gauge.window == Window(100_000, Confidence.REPORTED)


def test_more_tokens_than_the_table_allows_mean_the_large_window() -> None:
    gauge = Gauge()
    gauge.derive_window(TABLE)
    gauge.set_tokens(200_001, "transcript", 1.0)
    assert gauge.window == Window(LARGE_WINDOW, Confidence.DERIVED)
    gauge.report_window(200_000)
    assert gauge.window == Window(200_000, Confidence.REPORTED)
