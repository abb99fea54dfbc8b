"""Some workers begin with slow tests, the others with quick ones, and no test is lost."""

from __future__ import annotations

import pytest

from tests.schedule import slow_first


def is_slow(test: str) -> bool:
    return test.isupper()


def test_each_workers_share_begins_with_its_slow_tests() -> None:
    assert slow_first("abAcBdeCDf", 2, 2, is_slow) == [*"ABabc", *"CDdef"]


def test_a_worker_without_slow_tests_computes_meanwhile() -> None:
    assert slow_first("abAcBdeCDfgh", 3, 2, is_slow) == [*"ABab", *"CDcd", *"efgh"]


@pytest.mark.parametrize(("workers", "slow_workers"), [(1, 1), (2, 2), (3, 2), (4, 2), (9, 8)])
@pytest.mark.parametrize("tests", ["", "A", "a", "AAB", "abAcBdeCDf", "ABCDEFGHIJKa"])
def test_no_test_is_lost_and_each_kind_keeps_its_order(
    tests: str, workers: int, slow_workers: int
) -> None:
    ordered = slow_first(tests, workers, slow_workers, is_slow)
    for kind in (str.isupper, str.islower):
        assert list(filter(kind, ordered)) == list(filter(kind, tests))
