"""`cockpit wait`: what it waits for, what it prints, and its exit codes."""

from __future__ import annotations

import asyncio

import pytest

from cockpit.cli.wait import ENDED_FIRST, TIMED_OUT, wait_for
from cockpit.client.waiting import GOALS, Goal, Verdict, Wait, answer_command
from cockpit.core.errors import NoSuchAgent
from cockpit.wire.status import Needs, State, Status
from tests.client.memory import MemoryClient
from tests.tui.scene import agent

NEEDS = Needs(kind="permission", detail="Bash rm -rf build", answerable=True)


def fleet(**states: State) -> MemoryClient:
    rows = [agent(name, state=state, needs=None, handoff=None) for name, state in states.items()]
    return MemoryClient(Status(agents=rows))


async def said(
    client: MemoryClient, names: list[str], goal: Goal = "done", **how: object
) -> asyncio.Task[int]:
    """The wait as a task that has seen the snapshot."""
    task = asyncio.create_task(wait_for(client, names, goal, **how))  # type: ignore[arg-type]
    while not client.watched and not task.done():
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    return task


@pytest.mark.parametrize(
    ("goal", "state", "verdict"),
    [
        ("done", "done", Verdict.REACHED),
        ("done", "idle", None),
        ("done", "working", None),
        ("done", "exited", Verdict.ENDED),
        ("done", "stopped", Verdict.ENDED),
        ("idle", "idle", Verdict.REACHED),
        ("idle", "done", Verdict.REACHED),
        ("idle", "handing_off", None),
        ("needs-you", "done", None),
        ("handoff", "working", None),
    ],
)
def test_when_a_wait_is_over(goal: Goal, state: State, verdict: Verdict | None) -> None:
    row = agent("api", state=state, needs=None, handoff=None)
    assert Wait(goal, row.handoffs).verdict(row) is verdict


def test_a_job_stays_done_when_the_process_ends() -> None:
    ended = agent("api", state="exited", needs=None, handoff=None, job_done=True)
    assert Wait("done").verdict(ended) is Verdict.REACHED
    assert Wait("idle").verdict(ended) is Verdict.ENDED
    again = ended.model_copy(update={"state": "working"})
    assert Wait("done").verdict(again) is None


def test_a_plain_command_is_done_when_it_ends_without_an_error() -> None:
    ended = agent("api", state="exited", needs=None, handoff=None, runtime="command", exit_code=0)
    assert Wait("done").verdict(ended) is Verdict.REACHED
    assert Wait("idle").verdict(ended) is Verdict.ENDED
    for different in ({"exit_code": 3}, {"exit_code": None}, {"runtime": "claude"}):
        assert Wait("done").verdict(ended.model_copy(update=different)) is Verdict.ENDED


def test_an_agent_that_failed_and_has_no_process_has_ended() -> None:
    failed = Needs(kind="failed", detail="the CLI ended with exit code 1")
    row = agent("api", state="needs_you", needs=failed, handoff=None, pid=None)
    for goal in ("done", "idle", "handoff"):
        assert Wait(goal).verdict(row) is Verdict.ENDED
    assert Wait("needs-you").verdict(row) is Verdict.REACHED
    resumable = Needs(kind="resume", detail="interrupted by a reboot")
    for different in ({"pid": 7}, {"needs": resumable}):
        assert Wait("done").verdict(row.model_copy(update=different)) is None


def test_a_handoff_counts_from_the_beginning_of_the_wait() -> None:
    row = agent("api", state="working", needs=None, handoff=None, handoffs=2)
    assert Wait("handoff", 2).verdict(row) is None
    assert Wait("handoff", 1).verdict(row) is Verdict.REACHED


def test_every_need_has_a_command_that_answers_it() -> None:
    row = agent("api", handoff=None)
    assert answer_command(row, NEEDS) == "cockpit answer api"
    for answerable in (False, None):
        elsewhere = NEEDS.model_copy(update={"answerable": answerable})
        assert answer_command(row, elsewhere) == "cockpit attach api"
    assert answer_command(row, Needs(kind="trust", detail="x")) == "cockpit attach api"
    assert "approve api" in answer_command(row, Needs(kind="review", detail="x"))
    assert set(GOALS) == {"done", "idle", "needs-you", "handoff"}


async def test_all_must_have_reached_it(capsys: pytest.CaptureFixture[str]) -> None:
    client = fleet(api="working", web="done")
    task = await said(client, ["api", "web"])
    client.change("api", state="done")
    assert await task == 0
    assert capsys.readouterr().out == "web done\napi done\n"


async def test_one_is_enough_with_any() -> None:
    assert (
        await wait_for(fleet(api="working", web="idle"), ["api", "web"], "idle", is_any=True) == 0
    )


async def test_what_is_needed_is_printed_once_with_its_answer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    client = fleet(api="working")
    task = await said(client, ["api"])
    client.change("api", state="needs_you", needs=NEEDS)
    client.change("api", state="needs_you", needs=NEEDS, activity="other")
    client.change("api", state="working", needs=None)
    client.change("api", state="done")
    assert await task == 0
    told = capsys.readouterr().err
    assert told.count("api needs you: Bash rm -rf build") == 1
    assert "cockpit answer api" in told


async def test_an_agent_that_ends_first_has_an_exit_code_of_its_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    client = fleet(api="working")
    task = await said(client, ["api"])
    client.change("api", state="exited", note="ended with 7")
    assert await task == ENDED_FIRST
    assert capsys.readouterr().out == "api exited: ended with 7\n"


async def test_a_failed_start_ends_the_wait_and_is_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    client = fleet(api="starting")
    task = await said(client, ["api"])
    detail = "the CLI ended with exit code 1. Try again: cockpit start api"
    client.change("api", state="needs_you", needs=Needs(kind="failed", detail=detail), pid=None)
    assert await asyncio.wait_for(task, 10) == ENDED_FIRST
    assert capsys.readouterr().out == f"api failed: {detail}\n"


async def test_a_time_limit(capsys: pytest.CaptureFixture[str]) -> None:
    assert await wait_for(fleet(api="working"), ["api"], "done", seconds=0.05) == TIMED_OUT
    assert "Timed out waiting for done: api" in capsys.readouterr().err


async def test_an_unknown_agent_is_refused() -> None:
    with pytest.raises(NoSuchAgent):
        await wait_for(fleet(api="working"), ["ghost"], "done")


async def test_a_supervisor_that_restarts_is_waited_for() -> None:
    client = fleet(api="working")
    task = await said(client, ["api"])
    client.disconnect()
    await asyncio.sleep(0)
    client.reconnect()
    while not client.watched:
        await asyncio.sleep(0.01)
    client.change("api", state="done")
    assert await task == 0
