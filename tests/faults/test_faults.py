"""A short slice of `make faults`, and proof that its judge can say no."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from collections import Counter
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import get_args

import pytest

from cockpit.adapters.store.store import Store
from cockpit.config.paths import Places
from cockpit.core.ids import AgentName
from cockpit.demo.repository import make_repository
from cockpit.ports.records import AgentRecord
from tests.faults import kernel_log
from tests.faults.cycle import Cycle, Flown
from tests.faults.fleet import Fleet
from tests.faults.judge import misplaced, stays
from tests.faults.programme import Coverage, from_text, points_of, programme, to_text
from tests.faults.report import Report
from tests.faults.trap import Fault, Kind, Reached, Trap, reached
from tests.faults.witness import Witness
from tests.long_cases import cases


@pytest.mark.tmux
@pytest.mark.parametrize("cycles", cases(4, long=[16]))
def test_a_slice_of_the_faults_loses_nothing(cycles: int) -> None:
    report = Report(7)
    flown: list[Flown] = []
    with Fleet(2) as fleet:
        for each in fleet.fly_programme(cycles, seed=7):
            report.take(each)
            flown.append(each)
        if fleet.untraced is None:
            assert all(each.deeds for each in flown)
    wrong = [f"{each.wrong} in {to_text(each.cycle)}" for each in flown if each.wrong]
    assert wrong == [], report.text()
    assert any(each.recoveries for each in flown)
    assert report.counted == sum(each.counts for each in flown) == cycles
    assert {each.cycle.worktree for each in flown if each.counts} == {True, False}
    assert all(each.samples > 5 for each in flown)


@pytest.mark.long
@pytest.mark.tmux
def test_a_document_that_is_changed_during_its_review_is_read_again_and_approved() -> None:
    under_review = "sql.insert into handoffs Reviewing after"
    with Fleet(1) as fleet:
        (flown,) = fleet.fly([Cycle(first=(Fault(under_review, "DOCUMENT"),), mode="prompt")])
    assert (flown.outcome, flown.wrong) == ("done", [])
    assert [each.name for each in flown.points if each.sprung] == [under_review]


@pytest.mark.long
@pytest.mark.tmux
@pytest.mark.skipif(kernel_log.reason_against() is not None, reason="nothing can be traced here")
def test_a_cycle_whose_strace_gave_up_is_flown_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = "strace: ptrace(PTRACE_LISTEN,pid:7,sig:0): Input/output error"
    giving_up(tmp_path, told, monkeypatch)
    with Fleet(1) as fleet:
        (flown,) = fleet.fly([Cycle()])
    assert fleet.tracers_ended == [told]
    assert flown.outcome == "done"
    assert flown.deeds


@pytest.mark.skipif(kernel_log.reason_against() is not None, reason="nothing can be traced here")
def test_a_nursery_that_ends_for_another_reason_is_no_cycle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    giving_up(tmp_path, "strace: out of memory", monkeypatch)
    with Fleet(1) as fleet, pytest.raises(RuntimeError, match="ended: strace: out of memory"):
        list(fleet.fly([Cycle()]))


def giving_up(folder: Path, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A strace that says so and ends, the first time."""
    real = shutil.which("strace")
    program = folder / "strace"
    program.write_text(
        f'#!/bin/sh\n[ -e {folder}/once ] && exec {real} "$@"\n'
        f": > {folder}/once\necho '{told}' >&2\nexit 1\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)


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
    cycles = list(islice(programme(10, seed=3), 70))
    assert [from_text(to_text(each)) for each in cycles] == cycles
    cycles = [each for each in cycles if not is_extra(each)]
    cells = Counter((c.first[0].at, c.first[0].kind, bool(c.second)) for c in cycles)
    assert len(cells) == 60
    assert list(islice(programme(10, seed=3), 70)) == list(islice(programme(10, seed=3), 70))


def test_a_point_that_was_reached_is_hit_by_its_name_where_it_was_reached() -> None:
    coverage = Coverage()
    killed = Cycle(first=(Fault(3, "KILL"),), worktree=True)
    coverage.take(
        Flown(killed, points=[Reached(1, "a before", None), Reached(3, "b after", "KILL")])
    )
    coverage.take(Flown(killed, again=[Reached(1, "c before", None)]))
    assert (coverage.names, coverage.missed) == (3, ["a before", "c before"])
    assert coverage.next() == Cycle(first=(Fault("a before", "KILL"),), worktree=True)
    assert coverage.next() == Cycle(killed.first, (Fault("c before", "KILL"),), worktree=True)
    assert coverage.next() == Cycle(first=(Fault("a before", "ENOSPC"),), worktree=True)
    coverage.take(Flown(killed, points=[Reached(1, "a before", "EIO")]))
    assert coverage.missed == ["c before"]


def test_what_cannot_be_hit_is_not_tried_for_ever() -> None:
    coverage = Coverage()
    coverage.take(Flown(Cycle(), points=[Reached(1, "a after", None)]))
    tried = [coverage.next() for _ in range(Coverage.TRIES)]
    assert tried == [Cycle(first=(Fault("a after", "KILL"),))] * Coverage.TRIES
    assert coverage.next() is None


def test_what_comes_about_by_timing_is_told_and_is_no_failure() -> None:
    coverage = Coverage()
    coverage.take(Flown(Cycle(), points=[Reached(1, "a after", None), Reached(2, "b after", None)]))
    while (cycle := coverage.next()) is not None:
        coverage.take(Flown(cycle, points=[Reached(2, "b after", None)]))
    assert list(coverage.by_timing) == ["a after"]
    assert "in none of 12" in coverage.by_timing["a after"]
    assert coverage.missed == ["b after"]


def test_a_fault_at_which_a_point_came_about_is_kept() -> None:
    coverage, full = Coverage(), Cycle(first=(Fault(3, "ENOSPC"), Fault(9, "KILL")))
    coverage.take(Flown(full, points=[Reached(4, "a before", None)]))
    assert coverage.next() == Cycle(first=(Fault(3, "ENOSPC"), Fault("a before", "KILL")))


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
    agent = AgentRecord(AgentName("api"), {}, None, True, str(repository))
    with closing(Store(places.database).open()) as store:
        store.save_agent(agent)
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


def test_a_lock_of_git_counts_when_nobody_removes_it(tmp_path: Path) -> None:
    lock = tmp_path / "index.lock"
    lock.touch()
    assert stays(lock)
    working = threading.Timer(0.05, lock.unlink)
    working.start()
    assert not stays(lock)
    working.join()


def is_extra(cycle: Cycle) -> bool:
    """Whether it comes between those of the matrix."""
    return bool(cycle.clients) or cycle.first[0].kind not in get_args(Kind)


def refusal(number: int) -> Exception:
    return OSError(number, os.strerror(number))
