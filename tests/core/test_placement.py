"""The choice of a machine: the first difference decides, and every machine has its reason."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.core.placement import Candidate, choose, numbers

GB = 10**9
IDLE = Candidate("idle", running=0, cores=4, load=0.0, free_memory=8 * GB)


def machines() -> st.SearchStrategy[list[Candidate]]:
    one = st.builds(
        Candidate,
        name=st.sampled_from(["local", "gpu1", "gpu2", "gpu3", "gpu4"]),
        refusal=st.sampled_from(["", "", "no repository at /x"]),
        running=st.none() | st.integers(0, 20),
        cores=st.none() | st.integers(1, 128),
        load=st.none() | st.floats(0, 200),
        free_memory=st.none() | st.integers(0, 10**12),
    )
    return st.lists(one, max_size=5, unique_by=lambda one: one.name)


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (replace(IDLE, name="b", running=1), "more running agents per core"),
        (replace(IDLE, name="b", load=2.0), "more load per core"),
        (replace(IDLE, name="b", free_memory=GB), "less free memory"),
        (replace(IDLE, name="b", running=None), "agents or cores unknown"),
        (replace(IDLE, name="b", load=None), "load or cores unknown"),
        (replace(IDLE, name="b", free_memory=None), "free memory unknown"),
    ],
)
def test_the_first_difference_decides(other: Candidate, why: str) -> None:
    for order in ([IDLE, other], [other, IDLE]):
        choice = choose(order)
        assert choice.chosen == IDLE
        assert choice.lines() == [f"b: {why} ({numbers(other)})"]


def test_agents_count_per_core() -> None:
    small = replace(IDLE, name="small", running=1, cores=2)
    large = replace(IDLE, name="large", running=3, cores=64, load=30.0)
    assert choose([small, large]).chosen == large
    assert numbers(large) == "3 running agents on 64 cores, load 30.0, 8.0 GB free"


def test_equal_machines_keep_their_order() -> None:
    noisy = replace(IDLE, name="noisy", load=0.1, free_memory=8 * GB + 1)
    assert choose([noisy, IDLE]).chosen == noisy
    (line,) = choose([IDLE, noisy]).lines()
    assert line.startswith("noisy: equally good, but idle comes first")


@given(machines())
def test_every_machine_is_chosen_or_has_a_reason(candidates: list[Candidate]) -> None:
    choice = choose(candidates)
    assert sorted([*choice.fitting, *choice.refused], key=lambda one: one.name) == sorted(
        candidates, key=lambda one: one.name
    )
    assert (choice.chosen is None) == all(one.refusal for one in candidates)
    told = choice.lines()
    assert len(told) == len(candidates) - bool(choice.chosen)
    assert all(not line.endswith(": ") for line in told)


@given(machines(), st.randoms())
def test_the_order_of_the_hosts_only_decides_between_equal_ones(
    candidates: list[Candidate], random: object
) -> None:
    chosen = choose(candidates).chosen
    shuffled = list(candidates)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    other = choose(shuffled).chosen
    if chosen is None or other is None or chosen == other:
        assert (chosen is None) == (other is None)
        return
    (line,) = choose([chosen, other]).lines()
    assert "equally good" in line


@given(machines())
def test_fewer_agents_never_make_a_machine_lose(candidates: list[Candidate]) -> None:
    chosen = choose(candidates).chosen
    if chosen is None or not chosen.running:
        return
    better = replace(chosen, running=chosen.running - 1)
    again = [better if one is chosen else one for one in candidates]
    assert choose(again).chosen == better
