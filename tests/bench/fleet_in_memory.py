"""The application in this terminal over a supervisor in memory: what `bench_tui` watches.

python -m tests.bench.fleet_in_memory AGENTS EVENTS_PER_SECOND_EACH REFRESH
"""

from __future__ import annotations

import asyncio
import random
import sys
from pathlib import Path

from cockpit.cli.tui import build
from cockpit.client.memory import MemoryClient
from cockpit.tui.scene import agent, context
from cockpit.wire.status import Status


async def nowhere(_name: str) -> None:
    """Nobody attaches in a bench."""


async def busy(client: MemoryClient, names: list[str], each: float) -> None:
    """Let agents work: every event has another activity, every fourth another reading."""
    chance = random.Random(7)
    tokens = dict.fromkeys(names, 40_000)
    number = 0
    while True:
        await asyncio.sleep(1 / (each * len(names)))
        number += 1
        name = chance.choice(names)
        changed: dict[str, object] = {"activity": f"Edit src/module_{number % 97}.py"}
        if number % 4 == 0:
            tokens[name] += chance.randrange(200, 2_000)
            changed["context"] = context(tokens[name])
        client.change(name, **changed)


async def main(agents: int, each: float, refresh: str) -> None:
    names = [f"agent-{number}" for number in range(agents)]
    client = MemoryClient(Status(agents=[agent(name, chain_cost_usd=0.5) for name in names]))
    app = build(
        client,
        attach=nowhere,
        theme_folders=[Path("themes")],
        refresh="low" if refresh == "low" else "auto",
    )
    working = asyncio.create_task(busy(client, names, each)) if each else None
    await app.run_async()
    if working:
        working.cancel()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]))
