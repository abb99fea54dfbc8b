"""Refuse requests for an agent that is running, being started or being handed off."""

from __future__ import annotations

from cockpit.core.errors import NotNow
from cockpit.core.handoff.states import PHASES
from cockpit.supervisor.agents.agent import Agent


def refuse_if_alive(agent: Agent) -> None:
    """Raise `NotNow` if the agent is running or being started."""
    if agent.start.setup:
        raise NotNow(
            f"{agent.name} is being started",
            f"Its worktree is being set up: {agent.start.setup}",
            f"Wait, or cancel the start: cockpit stop {agent.name}",
        )
    refuse_if_opening(agent)
    if agent.alive:
        pid = agent.process.pid if agent.process else "?"
        raise NotNow(
            f"{agent.name} is already running (pid {pid})",
            "An agent can only run once at a time.",
            f"Open it: cockpit attach {agent.name}",
        )


def refuse_if_handing_off(agent: Agent) -> None:
    """Raise `NotNow` while a handoff of this agent is in progress, even without a process."""
    if agent.handoff is not None:
        raise NotNow(
            f"A handoff of {agent.name} is in progress",
            f"Current phase: {PHASES.get(type(agent.handoff.state), 'ended')}.",
            f"Wait, or refuse the handoff: cockpit refuse {agent.name}",
        )


def refuse_if_opening(agent: Agent) -> None:
    """Raise `NotNow` while the hooks before a session of this agent are running."""
    if agent.start.hooks_run:
        raise NotNow(
            f"{agent.name} is being started",
            "The hooks before its session are running.",
            "Try again in a few seconds.",
        )
