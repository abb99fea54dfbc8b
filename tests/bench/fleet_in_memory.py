"""The application in this terminal over supervisors in memory: what `bench_tui` watches.

python -m tests.bench.fleet_in_memory AGENTS EVENTS_PER_SECOND_EACH REFRESH HOSTS

Every agent has a reading with a course, a branch, a cost and an activity, and so every column; the
selected one's pane goes on by a line at each of its events. There is a history to open.
"""

from __future__ import annotations

import asyncio
import random
import sys
from datetime import UTC, datetime
from pathlib import Path

from cockpit.cli.fast_path import resume_gc
from cockpit.cli.tui import ScreenOptions, build
from cockpit.client.host_client import HostClient
from cockpit.client.joined_client import JoinedClient
from cockpit.core.course import Trend
from cockpit.wire.history import HistoryChain
from cockpit.wire.status import AgentStatus, Status
from tests.client.memory import MemoryClient
from tests.tui.scene import agent, context
from tests.tui.scene_history import chains

PANE_LINES = 40
FIRST = 40_000
"""Tokens of everybody's first reading."""
SHOWN = "agent-000"
"""Who is selected at first: the first of them."""


async def nowhere(_name: str) -> None:
    """Nobody attaches in a bench."""


class World:
    """Supervisors with agents, and what happens to them."""

    def __init__(self, agents: int, hosts: int) -> None:
        self.names = [f"agent-{number:03}" for number in range(agents)]
        self.tokens = dict.fromkeys(self.names, FIRST)
        self.context_history = {name: _course() for name in self.names}
        self.pane = [_printed(number) for number in range(PANE_LINES)]
        parts = [self.names[part::hosts] for part in range(hosts)]
        self.clients = [MemoryClient(Status(agents=list(map(_at_work, part)))) for part in parts]
        self.whose = {
            name: client for client, part in zip(self.clients, parts, strict=True) for name in part
        }
        self.clients[0].remember(_flown(50))
        self.whose[SHOWN].show(SHOWN, self.pane)

    def client(self) -> MemoryClient | JoinedClient:
        here, *others = self.clients
        named = [HostClient(f"host{number}", one) for number, one in enumerate(others, 1)]
        return JoinedClient(here, named) if named else here

    async def work(self, each: float) -> None:
        """Every event is another activity, every fourth another reading."""
        chance = random.Random(7)
        number = 0
        while True:
            await asyncio.sleep(1 / (each * len(self.names)))
            number += 1
            self.happen(chance.choice(self.names), number, chance)

    def happen(self, name: str, number: int, chance: random.Random) -> None:
        changed: dict[str, object] = {
            "activity": f"Edit src/module_{number % 97}.py",
            "last_activity_at": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        if number % 4 == 0:
            tokens = self.tokens[name] = self.tokens[name] + chance.randrange(200, 2_000)
            self.context_history[name].take(tokens)
            changed["context"] = context(tokens, trend=list(self.context_history[name].values))
        client = self.whose[name]
        client.change(name, **changed)
        if name == SHOWN:
            self.pane = [*self.pane[1:], _printed(number)]
            client.show(name, self.pane)


def _flown(times: int) -> list[HistoryChain]:
    """A history: four jobs, so many times over, each with documents of its own."""
    once = [chain.model_dump_json(by_alias=True) for chain in chains(datetime.now(UTC))]
    return [
        HistoryChain.model_validate_json(chain.replace('"h-', f'"h{number}-'))
        for number in range(times)
        for chain in once
    ]


def _at_work(name: str) -> AgentStatus:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    reading = context(FIRST, trend=list(_course().values))
    return agent(name, context=reading, chain_cost_usd=0.5, last_activity_at=now)


def _course() -> Trend:
    """Of a session that has been at it for a while, thinned as the supervisor does it."""
    course = Trend()
    for tokens in range(10_000, FIRST + 1, 1_000):
        course.take(tokens)
    return course


def _printed(number: int) -> str:
    return f"\x1b[1m\x1b[38;2;200;100;50mstep {number}\x1b[0m some words of an agent at work"


async def main(agents: int, each: float, refresh: str, hosts: int) -> None:
    world = World(agents, hosts)
    options = ScreenOptions(
        attach=nowhere,
        theme_folders=[Path("themes")],
        refresh="low" if refresh == "low" else "auto",
    )
    app = build(world.client(), options)
    resume_gc()
    working = asyncio.create_task(world.work(each)) if each else None
    await app.run_async()
    if working:
        working.cancel()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3], int(sys.argv[4])))
