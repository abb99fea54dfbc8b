"""One agent in an agent and one in a worktree, also where two cockpits know the same worktree."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.adapters.process.leases import worktree_lease
from cockpit.core.errors import NotNow
from cockpit.demo.leftovers import carriers
from cockpit.wire.verbs import Start, Stop

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux

WORKTREE = '[agents.worktree]\nstrategy = "git_worktree"\nbranch = "agent/{agent}"\n'


@contextmanager
def another(cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cockpit]:
    """A second cockpit with a home of its own, which knows the same repository."""
    home = cockpit.home / "b"
    home.mkdir()
    with monkeypatch.context() as patch:
        patch.setenv("COCKPIT_HOME", str(home))
        second = type(cockpit)(cockpit.home)
        second.home, second.config = home, home / "cockpit.toml"
    second.repository = cockpit.repository
    yield second
    second.end_everybody()


async def test_two_cockpits_put_one_agent_into_one_worktree(
    cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch
) -> None:
    with another(cockpit, monkeypatch) as second:
        api = cockpit.agent(mode="observe", steps=900, step_tokens=1, more=WORKTREE)
        async with cockpit.flying(api), second.flying(api):
            here = await cockpit.start()
            assert here.worktree is not None
            refused = await second.refused(Start(name="api", config=str(second.config), named=True))
            assert isinstance(refused, NotNow)
            assert refused.title == f"api is already running in {here.worktree}"
            assert f"process {here.pid} " in refused.detail
            assert "another cockpit" in refused.detail
            # A guest in that place is refused as well, also one below it.
            for where in (here.worktree, f"{here.worktree}/tally"):
                guest = await second.refused(Start(name="guest", directory=where, prompt="count"))
                assert isinstance(guest, NotNow)
            await cockpit.lives(here)

            await cockpit.ask(Stop(name="api"))
            there = await second.start()
            assert there.worktree == here.worktree
            assert isinstance(await cockpit.refused(Start(name="api")), NotNow)
            await second.lives(there)


@pytest.mark.long
async def test_the_kernel_refuses_whom_nobody_else_has_refused(
    cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both look, both see nobody, both start: one lives."""
    with another(cockpit, monkeypatch) as second:
        api = cockpit.agent(mode="observe", steps=900, step_tokens=1, more=WORKTREE)
        async with cockpit.flying(api), second.flying(api):
            await cockpit.start()
            await cockpit.ask(Stop(name="api"))
            await asyncio.gather(
                *(each.ask(Start(name="api")) for each in (cockpit, second)), return_exceptions=True
            )
            settled = {"working", "needs_you", "stopped"}
            await cockpit.until(lambda row: row.state in settled)
            rows = [await cockpit.row()]
            if any(each.name == "api" for each in (await second.client.status()).agents):
                await second.until(lambda row: row.state in settled)
                rows.append(await second.row())
            alive = [row for row in rows if row.pid is not None]
            assert len(alive) == 1
            await cockpit.lives(alive[0])


@pytest.mark.long
async def test_two_cockpits_share_a_plain_worktree(
    cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the user put into one directory by name is the user's own choice."""
    cockpit.configure()
    with another(cockpit, monkeypatch) as second:
        second.configure()
        place = cockpit.home / "aside"
        git = ["git", "-C", str(cockpit.repository), "worktree", "add", "-q", str(place)]
        subprocess.run(git, check=True)
        async with cockpit.flying(), second.flying():
            both = (cockpit, second)
            for each in both:
                await each.ask(Start(name="api", directory=str(place), prompt="count"))
            one, two = [await each.until(lambda row: row.state == "working") for each in both]
            await cockpit.lives(one, one, two)


@pytest.mark.long
async def test_a_straggler_that_holds_the_lease_is_ended_for_the_next_start(
    cockpit: Cockpit,
) -> None:
    orphaned = cockpit.agent(
        mode="observe", steps=900, step_tokens=1, faults="orphan", more=WORKTREE
    )
    async with cockpit.flying(orphaned) as supervisor:
        first = await cockpit.start()
        # One that ends before its first reply has failed, and has not exited.
        await cockpit.until(lambda _: supervisor.fleet.agent("api").session_state.replied)
        assert first.pid is not None
        os.kill(first.pid, signal.SIGKILL)
        await cockpit.until(lambda row: row.state == "exited")
        (orphan,) = sleepers(cockpit.home)

        second = await cockpit.start()
        await cockpit.until(lambda row: row.state == "working")
        await cockpit.lives(second)
        told = await cockpit.event("agent.stragglers")
        assert told.data["stragglers"] == [orphan]
        assert orphan not in sleepers(cockpit.home)


@pytest.mark.long
async def test_a_straggler_without_a_marker_is_named_and_left_alone(cockpit: Cockpit) -> None:
    """What took the lease and not the marker cannot be known for ours: its pids are told."""

    api = cockpit.agent(mode="observe", steps=900, step_tokens=1, more=WORKTREE)
    async with cockpit.flying(api):
        first = await cockpit.start()
        await cockpit.until(lambda row: row.state == "working")
        assert first.worktree is not None
        await cockpit.ask(Stop(name="api"))
        with unmarked_holder(Path(first.worktree), first.pid or 0) as left:
            refused = await cockpit.refused(Start(name="api"))
            assert isinstance(refused, NotNow)
            assert refused.title == f"Processes left by api are still running in {first.worktree}"
            assert f": {left.pid}." in refused.detail
            assert refused.hint.endswith(f"kill -KILL {left.pid}")
            assert left.poll() is None
            assert await cockpit.events("agent.stragglers") == []
        again = await cockpit.start()
        await cockpit.until(lambda row: row.state == "working")
        await cockpit.lives(again)


@contextmanager
def unmarked_holder(worktree: Path, pid: int) -> Iterator[subprocess.Popen[bytes]]:
    """A process that keeps the worktree's lock as that agent's child, and nothing else of it."""
    lease = worktree_lease(worktree)
    assert lease is not None
    with lease.open("rb") as held:
        assert held.read().startswith(b"%d api " % pid)
        fcntl.flock(held, fcntl.LOCK_EX)
        left = subprocess.Popen(["sleep", "600"], pass_fds=[held.fileno()], env={})
    try:
        yield left
    finally:
        left.kill()
        left.wait()


def sleepers(home: Path) -> list[int]:
    """The children that stand-ins leave in sessions of their own."""
    found = []
    for pid in carriers(home):
        try:
            if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"sleep\0"):
                found.append(pid)
        except OSError:
            continue
    return found


@pytest.mark.parametrize("stopped", [False, True])
async def test_no_worktree_is_made_inside_another_agents(cockpit: Cockpit, stopped: bool) -> None:
    api = cockpit.agent(mode="observe", steps=900, step_tokens=1, more=WORKTREE)
    async with cockpit.flying(api):
        row = await cockpit.start()
        assert row.worktree is not None
        if stopped:
            await cockpit.ask(Stop(name="api"))
        for where in (row.worktree, f"{row.worktree}/tally"):
            asked = Start(name="nested", directory=where, worktree=True, prompt="count")
            refused = await cockpit.refused(asked)
            assert isinstance(refused, NotNow)
            assert "api" in refused.title
            assert f"--directory {cockpit.repository}" in refused.hint
        assert not (Path(row.worktree) / ".worktrees").exists()
        assert [each.name for each in (await cockpit.client.status()).agents] == ["api"]
