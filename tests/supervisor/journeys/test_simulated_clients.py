"""Several clients that change the same agents at once, from seeds: the invariants hold after each.

The real supervisor, tmux and git, with the shipped stand-in. A seed gives the same verbs again, not
the same timing.
"""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.core.errors import CockpitError, NotNow
from cockpit.demo.leftovers import carriers
from cockpit.wire.verbs import (
    Approve,
    Continue,
    Handoff,
    Load,
    Refuse,
    RemoveWorktree,
    Send,
    Start,
    Stop,
    Undo,
    Verb,
)
from tests.long_cases import cases
from tests.supervisor.conftest import PATIENCE, is_standin, parent

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux

SEEDS = (1, 2, 3, 4)
CLIENTS = 3
VERBS = 8
"""Of each client."""
NAMES = ("api", "web")
WORKTREE = '[agents.worktree]\nstrategy = "git_worktree"\n'
QUICK = '[agents.handoff]\nwriters = ["facts"]\ncooldown = "0s"\nmax_per_job = 99\n'
LEFT = "# Handoff\n\n" + "\n\n".join(
    f"## {title}\n\n{words} It is written here as it was left."
    for title, words in (
        ("Goal", "Count the steps."), ("Current Task", "Counting the steps one by one."),
        ("Progress", "### Completed\n- a\n### In Progress\n- b\n### Pending\n- c"),
        ("Current State", "All that was counted is in the files."), ("Next Steps", "1. Count on."),
        ("Key Decisions", "Steps are whole."), ("What Did Not Work", "Halves."),
        ("Open Issues", "None known at all."),
    )
)  # fmt: skip
NEVER = ("failed inside the supervisor", "does not hold the lock of agent")
"""What no refusal may say."""


def stand_ins(cockpit: Cockpit, name: str) -> dict[int, str]:
    """Pids of the agent's living processes, with the marker that each carries."""
    found = {}
    for pid in carriers(cockpit.home):
        with suppress(OSError):
            variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            mine = f"COCKPIT_AGENT={name}".encode() in variables and is_standin(pid)
            marker = next((each for each in variables if each.startswith(b"COCKPIT_RUN=")), b"")
            if mine:
                found[pid] = marker.partition(b"=")[2].decode()
    return {pid: run for pid, run in found.items() if parent(pid) not in found}


class Play:
    """One seed: what the clients ask, what they are told, and the judgement."""

    def __init__(self, cockpit: Cockpit, seed: int) -> None:
        self._cockpit = cockpit
        self._chance = random.Random(seed)
        self.told: list[str] = []

    def _verb(self) -> Verb:
        name, cockpit = self._chance.choice(NAMES), self._cockpit
        start = Start(name=name, config=str(cockpit.config), named=True)
        return self._chance.choice(
            [
                start,
                start,
                Stop(name=name),
                Send(name=name, text="Go on."),
                Handoff(name=name, now=self._chance.random() < 0.5),
                Approve(name=name, straight=True),
                Refuse(name=name),
                Undo(name=name),
                Load(config=str(cockpit.config), named=True),
                RemoveWorktree(tree=name, cwd=str(cockpit.repository), salvage=True),
                Continue(
                    document=str(cockpit.home / "left.md"),
                    name=name,
                    directory=str(cockpit.repository),
                ),
            ]
        )

    async def client(self) -> None:
        """Ask one verb after the other, at moments of chance."""
        for _ in range(VERBS):
            asked = self._verb()
            answer = await self._answer(asked)
            assert not any(words in answer for words in NEVER), (asked, answer)
            self.told.append(f"{asked!r}: {answer}")
            await asyncio.sleep(self._chance.choice((0, 0, 0.01, 0.1, 0.5)))

    async def _answer(self, asked: Verb) -> str:
        try:
            return (await self._cockpit.client.ask(asked)).message
        except CockpitError as refused:
            return str(refused)

    async def watch(self) -> None:
        """See again and again that no agent has two processes."""
        while True:
            for name in NAMES:
                there = await asyncio.to_thread(stand_ins, self._cockpit, name)
                assert len(there) < 2, (name, there, self.told)
            await asyncio.sleep(0.02)

    async def settled(self) -> None:
        """Wait until nothing is under way."""
        end = time.monotonic() + 2 * PATIENCE
        supervisor = self._cockpit.supervisor
        assert supervisor is not None
        while any(
            supervisor.locks.is_held(agent.name) or agent.start.hooks_run or agent.start.under_way
            for agent in supervisor.fleet
        ):
            assert time.monotonic() < end, self.told
            await asyncio.sleep(0.05)

    async def stop(self, name: str) -> None:
        """Stop it; who is told to be stopped does not live, now or later."""
        end = time.monotonic() + 2 * PATIENCE
        while True:
            try:
                told = await self._cockpit.ask(Stop(name=name))
                break
            except NotNow:  # between two sessions
                assert time.monotonic() < end, self.told
                await asyncio.sleep(0.2)
        assert (await self._cockpit.row(name)).pid is None, told
        assert stand_ins(self._cockpit, name) == {}, told

    async def judge(self, name: str) -> None:
        """Row, database and processes agree, and every session but the living one is over."""
        cockpit = self._cockpit
        assert cockpit.supervisor is not None
        store = cockpit.supervisor.dependencies.store
        async with cockpit.supervisor.locks.hold(name, "judged"):
            agent = cockpit.supervisor.fleet.agent(name)
            held = next(each for each in store.agents() if each.name == name)
            chains = [store.chain(job.id) for job in store.jobs(name)]
            live = [each.id for chain in chains for each in chain if each.state == "live"]
            there = stand_ins(cockpit, name)
            told = (name, agent.record, there, live, "\n".join(self.told))
            assert held == agent.record, told
            if agent.alive:
                assert there == {agent.process.pid: held.run} if agent.process else {}, told
                assert live == [held.session], told
            else:
                assert there == {}, told
                assert live == [], told


@pytest.mark.long
@pytest.mark.parametrize("seed", cases(SEEDS[0], long=SEEDS[1:]))
async def test_clients_at_once_leave_every_agent_with_one_truth(
    cockpit: Cockpit, seed: int
) -> None:
    agents = [
        cockpit.agent("api", "prompt", steps=4, pause=1, step_tokens=100, more=WORKTREE + QUICK),
        cockpit.agent("web", "auto", steps=4, pause=1, step_tokens=100, more=WORKTREE + QUICK),
    ]

    play = Play(cockpit, seed)
    (cockpit.home / "left.md").write_text(LEFT)
    async with cockpit.flying(*agents):
        watching = asyncio.create_task(play.watch())
        await asyncio.gather(*(play.client() for _ in range(CLIENTS)))
        await play.settled()
        await play.judge("api")
        await play.stop("web")
        await play.judge("web")
        assert not watching.done() or watching.exception() is None
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
