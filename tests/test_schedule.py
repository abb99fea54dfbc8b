"""Each worker begins with slow tests, and no test is lost."""

from __future__ import annotations

import pytest

from tests.schedule import slow_first


def is_slow(test: str) -> bool:
    return test.isupper()


def test_each_workers_share_begins_with_its_slow_tests() -> None:
    assert slow_first("abAcBdeCDf", 2, is_slow) == [*"ABabc", *"CDdef"]


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("tests", ["", "A", "a", "AAB", "abAcBdeCDf", "ABCDEFGHIJKa"])
def test_no_test_is_lost_and_each_kind_keeps_its_order(tests: str, workers: int) -> None:
    ordered = slow_first(tests, workers, is_slow)
    for kind in (str.isupper, str.islower):
        assert list(filter(kind, ordered)) == list(filter(kind, tests))
