"""Many handoffs in a simulated world, each from a seed: safe at every step, and over in the end.

`python -m tests.core.handoff.test_simulation 100000 [SEED]` flies more of them.
"""

from __future__ import annotations

import sys
import time
from collections import Counter

import pytest

from cockpit.core.handoff.states import Outcome
from tests.core.handoff.simulated_world import Flight
from tests.long_cases import cases


def fly(first: int, many: int) -> tuple[Counter[str], int]:
    """So many handoffs; how they ended, and how many crashes there were on the way."""
    outcomes: Counter[str] = Counter()
    crashes = 0
    for seed in range(first, first + many):
        flight = Flight(seed)
        outcomes[flight.fly().outcome.value] += 1
        crashes += flight.crashes
    return outcomes, crashes


@pytest.mark.parametrize("many", cases(500, long=[3000]))
def test_every_simulated_handoff_is_safe_and_comes_to_an_end(many: int) -> None:
    outcomes, crashes = fly(1, many)
    assert set(outcomes) == {each.value for each in Outcome}
    assert outcomes["done"] > many / 3
    assert crashes > many / 3


def test_a_seed_gives_the_same_flight_again() -> None:
    for seed in range(50):
        first, second = Flight(seed), Flight(seed)
        assert first.fly() == second.fly()
        assert first.trace == second.trace


if __name__ == "__main__":
    asked = [int(word) for word in sys.argv[1:]] or [100_000]
    began = time.monotonic()
    ended, died = fly(asked[1] if len(asked) > 1 else 1, asked[0])
    print(f"{asked[0]} handoffs, {died} crashes, {time.monotonic() - began:.0f} s: {dict(ended)}")
