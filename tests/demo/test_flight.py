"""A whole flight, from the scratch folder to the summary, with nothing left behind."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cockpit.cli.tui import ends_on_leaving
from cockpit.core.errors import Failed
from cockpit.demo.flight import Flight, fly_headless, take_off
from cockpit.demo.jobs import jobs_for
from cockpit.demo.leftovers import carriers, end_leftovers
from cockpit.demo.scratch import make_scratch
from tests.long_cases import cases

pytestmark = pytest.mark.tmux


def folder_of(told: list[str]) -> Path:
    return Path(told[0].split(" in ")[1].split(";")[0])


@pytest.mark.long
def test_a_flight_of_stand_ins_says_so_and_is_complete() -> None:
    told: list[str] = []
    assert fly_headless(3, keep=False, say=told.append, standin=True) == 0
    assert "scripted stand-in" in told[2]
    assert any("approved by the demo: durations (review)" in line for line in told)
    assert told[-1].startswith("3 agents, 5 sessions, 2 handoffs, 2 documents")
    assert not folder_of(told).exists()


def test_a_flight_that_fails_leaves_nothing_either() -> None:
    told: list[str] = []
    with pytest.raises(Failed, match="Time limit reached"):
        fly_headless(1, keep=False, say=told.append, standin=True, cap=1.0)
    assert not folder_of(told).exists()
    assert carriers(folder_of(told)) == []


KILLED = """
from cockpit.demo.flight import fly_headless
fly_headless(1, keep={keep}, say=lambda line: print(line, flush=True), standin=True)
"""


@pytest.mark.parametrize("keep", cases(False, long=[True]))
def test_a_demo_that_is_killed_leaves_nothing_running(keep: bool) -> None:
    command = [sys.executable, "-P", "-c", KILLED.format(keep=keep)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as demo:
        assert demo.stdout is not None
        folder = folder_of([demo.stdout.readline()])
        try:
            # The first event is printed when the agent is running.
            assert any("rounding" in line for line in demo.stdout)
            assert carriers(folder)
            demo.kill()
            demo.wait()
            until(lambda: not carriers(folder) and folder.exists() == keep)
        finally:
            demo.kill()
            end_leftovers(folder)
            shutil.rmtree(folder, ignore_errors=True)


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize(("keep", "folder"), [(True, "is kept"), (False, "removes its folder")])
def test_the_question_to_leave_says_what_becomes_of_the_folder(keep: bool, folder: str) -> None:
    scratch = make_scratch(jobs_for(1), "http://127.0.0.1:9", standin=True)
    try:
        flight = Flight(scratch, jobs_for(1), print, 0.0, keep)
        assert folder in ends_on_leaving(flight.environment())
    finally:
        scratch.remove()
    assert not ends_on_leaving({})


def test_a_supervisor_that_cannot_start_is_told_with_the_end_of_its_log() -> None:
    scratch = make_scratch(jobs_for(1), "http://127.0.0.1:9", standin=True)
    try:
        scratch.places.database.mkdir(parents=True)
        with pytest.raises(Failed, match="did not start") as failed:
            take_off(Flight(scratch, jobs_for(1), print, 0.0))
        assert "End of up.log:" in failed.value.detail
        assert str(scratch.places.database) in failed.value.detail
        assert str(scratch.places.logs) not in failed.value.detail + failed.value.hint
    finally:
        scratch.remove()


@pytest.mark.claude
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("agents", "told"),
    cases(
        (1, "1 agent, 2 sessions, 1 handoff, 1 document"),
        long=[(3, "3 agents, 5 sessions, 2 handoffs, 2 documents")],
    ),
)
def test_the_command_flies_the_real_cli(agents: int, told: str) -> None:
    command = [sys.executable, "-P", "-m", "cockpit", "demo", "--headless", f"--agents={agents}"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as demo:
        try:
            said, _ = demo.communicate(timeout=800)
        except subprocess.TimeoutExpired:
            # So that it says what it was doing; after a kill only its model would end the agents.
            demo.send_signal(signal.SIGINT)
            raise
    assert demo.returncode == 0, said
    assert "The agents run Claude Code" in said
    assert told in said
    assert not folder_of(said.splitlines()).exists()
