from __future__ import annotations

import pytest

from cockpit.core.reading import Confidence, Reading, Window, resolve_window

LARGE = Window(1_000_000, Confidence.DERIVED)
SMALL = Window(200_000, Confidence.DERIVED)
GUESS = Window(200_000, Confidence.ASSUMED)


def test_the_pilots_word_beats_everything() -> None:
    found = resolve_window(override=150_000, reported=200_000, table=LARGE, seen=900_000)
    assert found == Window(150_000, Confidence.REPORTED)


def test_the_status_line_beats_what_is_derived() -> None:
    assert resolve_window(reported=200_000, table=LARGE).tokens == 200_000


def test_more_than_the_table_allows_was_seen() -> None:
    assert resolve_window(table=SMALL, seen=200_000) == SMALL
    assert resolve_window(table=SMALL, seen=200_001) == LARGE


def test_more_than_200k_seen_means_1m() -> None:
    assert resolve_window(table=GUESS, seen=250_000) == LARGE


def test_nothing_known_is_assumed_and_says_so() -> None:
    assert resolve_window(table=GUESS, seen=90_000) == GUESS
    assert resolve_window() == GUESS


@pytest.mark.parametrize("nonsense", [0, -1])
def test_a_window_of_nothing_is_no_window(nonsense: int) -> None:
    assert resolve_window(override=nonsense, reported=nonsense) == GUESS


def test_used_is_a_share_and_not_capped() -> None:
    assert Reading(300_000, 200_000).used == 1.5
    assert Reading(None, 200_000).used is None
    assert Reading(5, None).used is None
