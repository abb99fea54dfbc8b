"""The order in which the workers of xdist run the tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Test = TypeVar("Test")


def slow_first(
    tests: Sequence[Test], workers: int, slow_workers: int, is_slow: Callable[[Test], bool]
) -> list[Test]:
    """Order the tests so that some workers begin with slow ones, and quick ones fill the end.

    `--dist worksteal` gives each worker an equal number of tests that follow each other; whoever is
    done takes over the last ones of another. If those are slow, the other workers wait for them.
    Slow tests start real programs and wait for them. `slow_workers` is how many workers begin with
    them: the others compute meanwhile, so that no core is idle.
    Slow tests of one file stay together, because four real CLIs at once are slower than one.
    """
    slow = [test for test in tests if is_slow(test)]
    quick = [test for test in tests if not is_slow(test)]
    ordered: list[Test] = []
    for worker in range(workers):
        size = (len(slow) + len(quick)) // (workers - worker)
        first = len(slow) // (slow_workers - worker) if worker < slow_workers else 0
        rest = max(0, size - first)
        ordered += slow[:first] + quick[:rest]
        del slow[:first], quick[:rest]
    return ordered + slow + quick
