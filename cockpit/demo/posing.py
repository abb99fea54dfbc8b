"""A demo run for pictures of the screens: the agents stop in different states.

This module defines where each agent stops; the caller takes the pictures.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from cockpit.demo.flight import Flight, Say, flight
from cockpit.demo.jobs import Jobs, answers_needed
from cockpit.demo.more_jobs import PICTURED
from cockpit.demo.watch import Goal, Watch, is_done
from cockpit.wire.status import AgentStatus

CAP_SECONDS = 180.0
"""Maximum seconds until all agents have reached their states."""
Look = Callable[[Flight], Awaitable[None]]


def asks(kind: str) -> Goal:
    """Return a goal that an agent reaches when it has a need of this kind, such as `review`."""
    return lambda agent: agent.needs is not None and agent.needs.kind == kind


def in_third_session(agent: AgentStatus) -> bool:
    """Return whether the agent runs its long command in the third session of its chain."""
    runs = "for run in" in (agent.activity or "")
    return agent.session_number == 3 and agent.state == "working" and runs


def is_idle(agent: AgentStatus) -> bool:
    """Return whether the agent has worked and is idle now."""
    return agent.state == "idle" and agent.context.tokens is not None


GOALS: Mapping[str, Goal] = {
    "durations": asks("review"),
    "export": asks("permission"),
    "holidays": asks("question"),
    "invoices": in_third_session,
    "sorting": is_idle,
}
"""The state in which each agent stops; agents that are not listed finish their jobs."""


def at_goal(agent: AgentStatus) -> bool:
    """Return whether the agent is in the state for its picture."""
    return GOALS.get(agent.name, is_done)(agent)


def fly_posing(
    *, empty: Look, posed: Look, keep: bool, say: Say, standin: bool = False, jobs: Jobs = PICTURED
) -> None:
    """Run the agents. Calls `empty` before any agent exists, and `posed` when all have stopped.

    Raises `Failed` with the reason if an agent does not reach its state within `CAP_SECONDS`.
    """
    with flight(jobs, keep=keep, say=say, standin=standin, empty=True) as running:
        asyncio.run(looked_at(running, empty, posed))


async def looked_at(running: Flight, empty: Look, posed: Look) -> None:
    await empty(running)
    await running.start_agents()
    expected = answers_needed(running.jobs)
    watch = Watch(running.client, running.say, CAP_SECONDS, at_goal, expected)
    await watch.until_reached()
    await posed(running)
