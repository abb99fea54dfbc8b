"""A machine that restarts: sessions go on in their own jobs, and what cannot come back says why."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cockpit.adapters.clock import SystemClock
from cockpit.core.errors import NotNow
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.main import dependencies
from cockpit.wire.verbs import Handoff, Resume, Start, Stop, Undo

if TYPE_CHECKING:
    from cockpit.config.paths import Places
    from cockpit.ports.runtimes import SessionOrder
    from cockpit.supervisor.agents.agent import Agent
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux

LONG: dict[str, Any] = {"steps": 500, "step_tokens": 10}
"""A stand-in that works for as long as a test looks at it."""


class LaterBoot(SystemClock):
    """The clock of a machine that was restarted."""

    def boot(self) -> str:
        return "another-boot"


def restarted(places: Places) -> Dependencies:
    return replace(dependencies(places), clock=LaterBoot())


def end_machine(cockpit: Cockpit) -> None:
    """End the tmux server and every agent at once, as a power cut does."""
    cockpit.end_everybody()
    cockpit.places.tmux_socket.unlink(missing_ok=True)


@pytest.mark.long
async def test_a_reopened_session_goes_on_in_its_own_job(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(steps=9)):
        await cockpit.start()
        was = await cockpit.until(lambda row: row.handoffs == 1 and row.state == "done")
        await cockpit.ask(Stop(name="api"))
        row = await cockpit.start(resume=was.session_id)
        assert row.session_id == was.session_id
        assert (row.job, row.session_number, row.handoffs) == (was.job, 2, 1)
        assert row.previous_session_id == was.previous_session_id
        assert row.chain_cost_usd == was.chain_cost_usd
        # Nothing was said to it: the configured prompt began the job, and is not said again.
        assert cockpit.prompts(row) == cockpit.prompts(was)
        (chain,) = await cockpit.client.history("api")
        assert [each.number for each in chain.sessions] == [1, 2]
        await cockpit.ask(Undo(name="api"))
        back = await cockpit.until(lambda row: row.session_number == 1)
        assert back.job == was.job


@pytest.mark.long
async def test_a_session_of_another_agent_is_not_taken_out_of_its_job(cockpit: Cockpit) -> None:
    async with cockpit.flying(
        cockpit.agent(mode="observe", steps=9, pause=2), cockpit.agent("two", "observe")
    ):
        row = await cockpit.start()
        await cockpit.until(lambda row: row.state in ("idle", "done"))
        await cockpit.ask(Stop(name="api"))
        refused = await cockpit.refused(Start(name="two", resume=row.session_id))
        assert isinstance(refused, NotNow)
        assert f"cockpit start api --resume {row.session_id}" in refused.hint
        (chain,) = await cockpit.client.history("api")
        assert [each.id for each in chain.sessions] == [row.session_id]


def reading_threads(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> list[threading.Thread]:
    """Return a list that gets the thread of each check whether the session can be reopened."""
    runtime, threads = agent.runtime, list[threading.Thread]()
    check = runtime.resumable

    def noted(order: SessionOrder) -> None:
        threads.append(threading.current_thread())
        check(order)

    monkeypatch.setattr(runtime, "resumable", noted)
    return threads


async def test_everybody_who_ran_is_reopened_after_a_restart_and_the_rest_says_why(
    cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = [
        cockpit.agent("one", "observe", **LONG),
        cockpit.agent("two", "observe", **LONG),
        cockpit.agent("lost", "observe", **LONG),
        cockpit.agent("stopped", "observe", **LONG),
    ]
    before = {}
    async with cockpit.flying(*tables):
        for name in ("one", "two", "lost", "stopped"):
            await cockpit.start(name)
            before[name] = await cockpit.until(lambda row: row.state == "working", name)
        await cockpit.ask(Stop(name="stopped"))
    end_machine(cockpit)
    Path(before["lost"].transcript or "").unlink()
    cockpit.world = restarted
    async with cockpit.flying() as supervisor:
        row = await cockpit.until(lambda row: row.needs is not None, "one")
        assert row.needs is not None
        readers = reading_threads(supervisor.fleet.agent("one"), monkeypatch)
        assert (row.state, row.needs.kind) == ("needs_you", "resume")
        assert "interrupted by a reboot" in row.needs.detail
        assert (await cockpit.row("stopped")).state == "stopped"
        told = await cockpit.ask(Resume(dry_run=True))
        assert told.text is not None
        assert [line.split()[0] for line in told.text.splitlines()] == ["one", "two", "lost"]
        assert "no session" in told.text.splitlines()[2].lower()
        assert (await cockpit.row("one")).pid is None
        assert readers
        assert threading.main_thread() not in readers

        done = await cockpit.ask(Resume())
        assert "2" in done.message
        for name in ("one", "two"):
            row = await cockpit.until(lambda row: bool(cockpit.living(row)), name)
            assert row.session_id == before[name].session_id
            assert row.job == before[name].job
            assert row.needs is None
        lost = await cockpit.row("lost")
        assert lost.needs is not None
        assert "cockpit start lost" in lost.needs.detail
        pid = (await cockpit.row("one")).pid
        # A second time there is nobody left but the one that cannot come back.
        again = await cockpit.ask(Resume())
        assert (again.text or "").startswith("lost")
        (late,) = await supervisor.resumer._reopen_all([supervisor.fleet.agent("one")], None)
        assert "already running" in str(late)
        (late,) = await supervisor.resumer._reopen_all([supervisor.fleet.agent("stopped")], None)
        assert "was reopened or stopped in the meantime" in str(late)
        assert (await cockpit.row("one")).pid == pid


@pytest.mark.long
@pytest.mark.parametrize("said", ["always", "never"])
async def test_the_configuration_says_what_is_done_after_a_restart(
    cockpit: Cockpit, said: str
) -> None:
    more = f'resume = "{said}"'
    async with cockpit.flying(cockpit.agent(mode="observe", more=more, **LONG)):
        await cockpit.start()
        was = await cockpit.until(lambda row: row.state == "working")
    end_machine(cockpit)
    cockpit.world = restarted
    async with cockpit.flying():
        if said == "always":
            row = await cockpit.until(lambda row: bool(row.pid and cockpit.living(row)))
            await cockpit.lives(row)
            assert row.session_id == was.session_id
        else:
            row = await cockpit.until(lambda row: row.state == "exited")
            assert row.needs is None
            assert "cockpit start api --resume" in (row.note or "")
            assert cockpit.living(row) == []


@pytest.mark.long
async def test_who_a_shutdown_ended_first_counts_as_cut_off_and_who_left_before_does_not(
    cockpit: Cockpit,
) -> None:
    """An orderly shutdown ends agents while the supervisor still looks."""

    async with cockpit.flying(
        cockpit.agent("one", "observe", **LONG),
        cockpit.agent("left", "observe", pause=1, steps=2),
    ):
        one = await cockpit.start("one")
        await cockpit.start("left")
        await cockpit.until(lambda row: row.state == "working", "one")
        left = await cockpit.until(lambda row: row.state in ("idle", "done"), "left")
        cockpit.tmux("send-keys", "-t", str(left.pane), "C-d")
        await cockpit.until(lambda row: row.state == "exited", "left")
        # How it ended is known a moment after that it did.
        await cockpit.event("agent.exited")
        os.kill(one.pid or 0, signal.SIGTERM)
        await cockpit.until(lambda row: row.state == "exited", "one")
    end_machine(cockpit)
    cockpit.world = restarted
    async with cockpit.flying():
        row = await cockpit.until(lambda row: row.needs is not None, "one")
        assert row.needs is not None
        assert row.needs.kind == "resume"
        assert (await cockpit.row("left")).needs is None


@pytest.mark.long
async def test_agents_whose_tmux_server_ended_are_reopened_by_one_command(cockpit: Cockpit) -> None:
    async with cockpit.flying(
        cockpit.agent("one", "observe", **LONG), cockpit.agent("two", "observe", **LONG)
    ):
        for name in ("one", "two"):
            await cockpit.start(name)
            await cockpit.until(lambda row: row.state == "working", name)
        os.kill(int(cockpit.tmux("display-message", "-p", "#{pid}")), signal.SIGKILL)
        for name in ("one", "two"):
            row = await cockpit.until(lambda row: row.needs is not None, name)
            assert row.needs is not None
            assert (row.needs.kind, "tmux" in row.needs.detail) == ("resume", True)
        await cockpit.ask(Stop(name="two"))
        assert (await cockpit.row("two")).needs is None
        done = await cockpit.ask(Resume(prompt="Go on."))
        assert done.text == "one  reopened session 1"
        row = await cockpit.until(lambda row: bool(cockpit.living(row)), "one")
        await cockpit.until(lambda row: "Go on." in cockpit.prompts(row), "one")


@pytest.mark.long
async def test_a_reopened_job_keeps_its_goal_and_a_missing_worktree_is_made_again(
    cockpit: Cockpit,
) -> None:
    table = cockpit.agent(steps=9, more='worktree.strategy = "git_worktree"')
    async with cockpit.flying(table):
        await cockpit.start()
        was = await cockpit.until(lambda row: row.handoffs == 1 and row.state == "done")
        await cockpit.ask(Stop(name="api"))
        assert was.worktree is not None
        git = ["git", "-C", str(cockpit.repository), "worktree"]
        words = ["remove", "--force", "--force", was.worktree]
        subprocess.run([*git, *words], check=True)
        row = await cockpit.start(resume="last")
        assert (row.worktree, row.branch, row.job) == (was.worktree, was.branch, was.job)
        assert row.goal == "Count the steps."
        told = await cockpit.ask(Handoff(name="api", dry_run=True))
        assert told.text is not None
        assert "Count the steps." in told.text
        assert "You continue a job" not in told.text
