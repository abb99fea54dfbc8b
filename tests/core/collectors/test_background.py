from __future__ import annotations

import pytest

from cockpit.core.facts import BackgroundTask
from cockpit.core.session import ToolFinished
from cockpit.core.shell_jobs import ended_pids, printed_pid, shell_jobs
from cockpit.core.verified_facts import background_work, is_background_line
from tests.core.collectors.events import call, facts_of, ran


@pytest.mark.parametrize(
    ("command", "jobs"),
    [
        ("npm run dev &", ("npm run dev",)),
        ("cd web && npm run dev > /tmp/dev.log 2>&1 &", ("npm run dev > /tmp/dev.log 2>&1",)),
        ("nohup ./serve &>/tmp/log & echo $!", ("nohup ./serve &>/tmp/log",)),
        ("redis-server & uvicorn app:app &", ("redis-server", "uvicorn app:app")),
        ("(python -m http.server 8000 &)", ("python -m http.server 8000",)),
        ("cd a; tail -f log | grep x > found &", ("tail -f log | grep x > found",)),
        ("make test & make lint & wait", ()),
        ("./serve & sleep 2; curl localhost; kill $!", ()),
        ("./serve & sleep 2; curl localhost; kill %1", ()),
        ("make 2>&1 | tail", ()),
        ("make &> log", ()),
        ("a && b", ()),
        ("echo 'a & b'", ()),
        ('git commit -m "Salt & pepper"', ()),
        ("sleep 5 &", ()),
    ],
)
def test_the_commands_that_a_shell_leaves_in_the_background(
    command: str, jobs: tuple[str, ...]
) -> None:
    assert shell_jobs(command) == jobs


def test_a_shell_job_is_listed_as_perhaps_running() -> None:
    facts = facts_of(*ran("npm run dev > dev.log 2>&1 & echo $!", "4242"))
    (job,) = facts.background
    assert (job.id, job.type, job.status) == ("pid 4242", "shell", "unknown")
    assert job.command == "npm run dev > dev.log 2>&1 &"
    line = background_work(facts)
    assert line.startswith("- shell `pid 4242`, perhaps still running: `npm run dev")
    assert is_background_line(line, facts_of())


def test_a_shell_job_ends_with_its_process() -> None:
    facts = facts_of(*ran("./serve & echo $!", "4242"), *ran("kill 4242"))
    assert [(job.id, job.status) for job in facts.background] == [("pid 4242", "stopped")]


def test_a_shell_job_that_was_started_again_is_listed_once() -> None:
    facts = facts_of(*ran("./serve &"), *ran("./other &"), *ran("./serve &"))
    assert [(job.id, job.command) for job in facts.background] == [
        ("job 2", "./other &"), ("job 3", "./serve &"),
    ]  # fmt: skip


def test_a_shell_job_that_failed_to_start_is_not_listed() -> None:
    assert facts_of(*ran("cd nowhere && ./serve &", "no such folder", 1)).background == ()


def test_the_process_of_a_shell_job() -> None:
    assert printed_pid("./serve & echo $!", "ready\n4242\n") == "4242"
    assert printed_pid("./serve &", "[1] 4242") == "4242"
    assert printed_pid("./serve &", "4242") == ""
    assert printed_pid("./serve & echo $!; cat n", "4242\n17") == ""
    assert ended_pids("kill -9 4242 77; sleep 1") == {"4242", "77"}
    assert ended_pids("kill %1 && head -100 x") == frozenset()
    assert ended_pids("ls 4242") == frozenset()


def test_a_monitor_is_a_background_task() -> None:
    started = call("t1", "Monitor", command="tail -f log", description="Errors in the log")
    facts = facts_of(started, ToolFinished("t1", text="Monitor started", task_id="m1"))
    task = BackgroundTask("m1", "monitor", "Errors in the log", "tail -f log")
    assert facts.background == (task,)
    ended = ToolFinished("", agent_id="m1", agent_status="completed")
    facts = facts_of(started, ToolFinished("t1", task_id="m1"), ended)
    assert [task.status for task in facts.background] == ["completed"]
