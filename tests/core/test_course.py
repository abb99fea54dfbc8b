"""Readings over time: bounded, even, and never without what matters in them."""

from __future__ import annotations

from itertools import pairwise

import pytest

from cockpit.core.course import TREND_CELLS, Point, Trend, thinned


def replies(count: int) -> list[Point]:
    return [Point(None, 1_000 * call, "reply", call) for call in range(1, count + 1)]


@pytest.mark.parametrize("count", [0, 1, 2, 7, 8, 9, 100, 5_000])
def test_a_thinned_course_is_bounded_in_order_and_ends_with_the_newest(count: int) -> None:
    points = replies(count)

    kept = thinned(points, 8)

    assert len(kept) <= 8
    assert kept[-1:] == points[-1:]
    assert kept == sorted(kept, key=lambda point: point.call)
    if count <= 8:
        assert kept == points


def test_what_is_left_out_is_left_out_evenly() -> None:
    steps = [point.call for point in thinned(replies(4_096), 512)]
    gaps = {after - before for before, after in pairwise(steps)}
    assert gaps == {8}


def test_compactions_stay() -> None:
    points = replies(1_000)
    points.insert(333, Point(None, 333_000, "compacted", 333))

    assert points[333] in thinned(points, 16)


def test_compactions_alone_are_bounded_too() -> None:
    points = [Point(None, 9, "compacted", call) for call in range(1, 2_000)]

    kept = thinned(points, 10)

    assert len(kept) <= 10
    assert kept[-1] == points[-1]
    assert len(set(kept)) == len(kept)


def test_a_trend_has_every_reading_until_there_is_no_room() -> None:
    trend = Trend()
    assert not trend.values
    for tokens in range(1, TREND_CELLS + 1):
        trend.take(tokens)
    assert trend.values == tuple(range(1, TREND_CELLS + 1))

    trend.take(TREND_CELLS + 1)

    assert trend.values == (2, 4, 6, 8, 9)


def test_a_better_word_for_a_reading_takes_its_place() -> None:
    trend = Trend()
    trend.take(5)
    trend.take(6, again=True)
    trend.take(7)
    assert trend.values == (6, 7)


@pytest.mark.parametrize("count", [50, 1_000, 12_345])
def test_a_long_trend_has_steps_of_one_length_and_ends_with_the_reading(count: int) -> None:
    trend = Trend()
    for tokens in range(1, count + 1):
        trend.take(tokens)
    *whole, last = trend.values
    assert TREND_CELLS // 2 <= len(whole) + 1 <= TREND_CELLS
    assert last == count
    assert {after - before for before, after in zip([0, *whole], whole, strict=False)} == {whole[0]}
