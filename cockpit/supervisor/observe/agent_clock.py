"""Convert times that a CLI reports to seconds of `Clock.steady`."""

from __future__ import annotations

from cockpit.ports.clock import Clock
from cockpit.supervisor.agents.agent import Agent


def dated(clock: Clock, agent: Agent, stamp: float | None) -> float:
    """Convert a wall clock time to seconds of `Clock.steady`; at most now. None means now."""
    now = clock.steady()
    return now if stamp is None else min(now, stamp + clock_offset(clock, agent))


def clock_offset(clock: Clock, agent: Agent) -> float:
    """Return `Clock.steady` minus the wall clock, in seconds, and store the result on the agent.

    The result changes when the wall clock is set.
    """
    agent.clock_offset = clock.steady() - clock.now().timestamp()
    return agent.clock_offset
