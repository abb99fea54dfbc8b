"""The order in which the workers of xdist run the tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Test = TypeVar("Test")


def slow_first(tests: Sequence[Test], workers: int, is_slow: Callable[[Test], bool]) -> list[Test]:
    """Order the tests so that each worker begins with slow ones, and quick ones fill the end.

    `--dist worksteal` gives each worker an equal number of tests that follow each other; whoever is
    done takes over the last ones of another. If those are slow, the other workers wait for them.
    Slow tests of one file stay together, because four real CLIs at once are slower than one.
    """
    slow = [test for test in tests if is_slow(test)]
    quick = [test for test in tests if not is_slow(test)]
    ordered: list[Test] = []
    for left in range(workers, 0, -1):
        size = (len(slow) + len(quick)) // left
        first = len(slow) // left
        rest = max(0, size - first)
        ordered += slow[:first] + quick[:rest]
        del slow[:first], quick[:rest]
    return ordered + slow + quick
