"""A flight to be looked at: agents that stop where a user would find them at any time.

Where each stops is decided here; who looks, and at what, is not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from cockpit.demo.flight import Flight, Say, flight
from cockpit.demo.jobs import Jobs
from cockpit.demo.more_jobs import PICTURED
from cockpit.demo.watch import Goal, Watch, is_done
from cockpit.wire.status import AgentStatus

CAP_SECONDS = 180.0
"""Everybody is where they should be by then, or never."""
Look = Callable[[Flight], Awaitable[None]]


def asks(kind: str) -> Goal:
    """It waits for its user with such a question."""
    return lambda agent: agent.needs is not None and agent.needs.kind == kind


def flies_third(agent: AgentStatus) -> bool:
    """It is in the middle of its long run, in the third session of its chain."""
    runs = "for run in" in (agent.activity or "")
    return agent.session_number == 3 and agent.state == "working" and runs


def rests(agent: AgentStatus) -> bool:
    """It has worked, and nothing is asked of it."""
    return agent.state == "idle" and agent.context.tokens is not None


GOALS: Mapping[str, Goal] = {
    "durations": asks("review"),
    "export": asks("permission"),
    "holidays": asks("question"),
    "invoices": flies_third,
    "sorting": rests,
}
"""Where each of the cast stops; whoever is not here flies to the end."""


def at_goal(agent: AgentStatus) -> bool:
    """Whether this one of the cast is where it is to be pictured."""
    return GOALS.get(agent.name, is_done)(agent)


def fly_posing(
    *, empty: Look, posed: Look, keep: bool, say: Say, standin: bool = False, jobs: Jobs = PICTURED
) -> None:
    """Fly the cast; `empty` looks before anybody is known, `posed` when everybody has stopped.

    Raises `Failed` with the reason when they do not get there.
    """
    with flight(jobs, keep=keep, say=say, standin=standin, empty=True) as flown:
        asyncio.run(looked_at(flown, empty, posed))


async def looked_at(flown: Flight, empty: Look, posed: Look) -> None:
    """The flight, and both looks at it."""
    await empty(flown)
    await flown.start_agents()
    await Watch(flown.client, flown.say, CAP_SECONDS, at_goal).until_reached()
    await posed(flown)
