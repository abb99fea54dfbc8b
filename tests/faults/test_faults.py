"""A short slice of `make faults`, and proof that its judge can say no."""

from __future__ import annotations

import os
import signal
from collections import Counter
from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest

from cockpit.adapters.store.store import Store
from cockpit.config.paths import Places
from cockpit.core.ids import AgentName
from cockpit.demo.repository import make_repository
from cockpit.ports.records import SeatRecord
from tests.faults.cycle import Cycle, Flown
from tests.faults.fleet import Fleet
from tests.faults.judge import misplaced
from tests.faults.programme import from_text, points_of, programme, to_text
from tests.faults.report import Report
from tests.faults.trap import Fault, Reached, Trap, reached
from tests.faults.witness import Witness

CYCLES = 16


@pytest.mark.tmux
def test_a_slice_of_the_faults_loses_nothing() -> None:
    report = Report(7)
    flown: list[Flown] = []
    with Fleet(2) as fleet:
        for each in fleet.fly_programme(CYCLES, seed=7):
            report.take(each)
            flown.append(each)
    wrong = [f"{each.wrong} in {to_text(each.cycle)}" for each in flown if each.wrong]
    assert wrong == [], report.text()
    assert any(each.recoveries for each in flown)
    assert report.counted == sum(each.counts for each in flown) == CYCLES
    assert {each.cycle.worktree for each in flown if each.counts} == {True, False}
    assert all(each.samples > 5 for each in flown)


def test_a_trap_springs_once_at_its_number(tmp_path: Path) -> None:
    trap = Trap(tmp_path / "points", (Fault(2, "EIO"),), armed=True)
    trap.reach("one", refusal)
    with pytest.raises(OSError, match="5"):
        trap.reach("two", refusal)
    trap.reach("three", refusal)
    assert [each.sprung for each in reached(tmp_path / "points")] == [None, "EIO", None]


def test_what_was_done_does_not_fail_but_the_next_reach_does(tmp_path: Path) -> None:
    trap = Trap(tmp_path / "points", (Fault(1, "EIO"),), armed=True)
    trap.reach("one after")
    with pytest.raises(OSError, match="5"):
        trap.reach("two", refusal)


def test_a_full_disk_stays_full_for_a_while(tmp_path: Path) -> None:
    trap = Trap(tmp_path / "points", (Fault(1, "ENOSPC"),), armed=True)
    for _ in range(2):
        with pytest.raises(OSError, match="28"):
            trap.reach("write", refusal)
    trap.reach("signal", refusal, writes=False)


def test_a_trap_that_is_not_armed_counts_nothing(tmp_path: Path) -> None:
    trap = Trap(tmp_path / "points", (Fault(1, "KILL"),), armed=False)
    trap.reach("one", refusal)
    assert reached(tmp_path / "points") == []


def test_a_kill_ends_the_process_at_its_number(tmp_path: Path) -> None:
    pid = os.fork()
    if pid == 0:
        trap = Trap(tmp_path / "points", (Fault(2, "KILL"),), armed=True)
        for name in ("one", "two", "three"):
            trap.reach(name, refusal)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    assert [each.name for each in reached(tmp_path / "points")] == ["one", "two"]


def test_the_programme_is_the_whole_matrix_and_the_same_for_a_seed() -> None:
    cycles = list(islice(programme(10, seed=3), 60))
    cells = Counter((c.first[0].at, c.first[0].kind, bool(c.second)) for c in cycles)
    assert len(cells) == 60
    assert cycles == list(islice(programme(10, seed=3), 60))
    assert [from_text(to_text(each)) for each in cycles] == cycles


def test_points_are_counted_to_the_end_of_the_handoff() -> None:
    last = Reached(2, "documents.withdraw_notice after", None)
    assert points_of([Reached(1, "a", None), last, Reached(3, "b", None)]) == 6


def test_a_violation_fails_the_report() -> None:
    report = Report(1)
    report.take(Flown(Cycle(), wrong=["two agents at once"], outcome="done"))
    assert report.violations == 1
    assert "1 violations" in report.text()


def test_a_cycle_counts_when_all_of_its_faults_struck() -> None:
    report = Report(1)
    once, again = Cycle(first=(Fault(2, "EIO"),)), Cycle((Fault(2, "EIO"),), (Fault(1, "KILL"),))
    one, two = [Reached(2, "a", "EIO")], [Reached(1, "b", "KILL")]
    for flown in (
        Flown(once, points=one),
        Flown(once, points=[Reached(1, "a", None)]),
        Flown(again, points=one),
        Flown(again, points=one, again=two),
        Flown(Cycle(), points=[Reached(1, "a", None)]),
    ):
        report.take(flown)
    assert report.counted == 2
    assert "of the 2: 1 hurt again during recovery, 0 in a git worktree" in report.text()
    assert (
        "1 whose fault struck nothing, 1 whose second one struck nothing, 1 with" in report.text()
    )


def test_the_judge_sees_where_an_agent_works_and_what_it_left_there(own_home: Path) -> None:
    repository = own_home / "repository"
    repository.mkdir()
    make_repository(repository, os.environ)
    places = Places.of(os.environ)
    places.make()
    seat = SeatRecord(AgentName("api"), {}, None, True, str(repository))
    with closing(Store(places.database)) as store:
        store.save_seat(seat)
    witness = Witness(own_home)
    witness.close()
    assert list(misplaced(places, own_home, witness, apart=False)) == []
    (repository / "stray").touch()
    (repository / ".git" / "index.lock").touch()
    wrong = " / ".join(misplaced(places, own_home, witness, apart=True))
    assert "its worktree is None" in wrong
    assert "git sees changes in repository: ?? stray" in wrong
    assert "git is locked in repository" in wrong
    assert "not on None" in wrong


def refusal(number: int) -> Exception:
    return OSError(number, os.strerror(number))
