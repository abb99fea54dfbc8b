"""Refuse requests for an agent that is running, being started or handed off, or has no pane."""

from __future__ import annotations

from cockpit.core.errors import NotNow
from cockpit.core.handoff.states import PHASES, Outcome
from cockpit.core.ids import AgentName, PaneId
from cockpit.core.safetext import safe_line
from cockpit.ports.records import SessionRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Dependencies


def refuse_if_alive(agent: Agent) -> None:
    """Raise `NotNow` if the agent is running or being started."""
    if agent.start.setup:
        raise NotNow(
            f"{agent.name} is being started",
            f"Current step: {agent.start.setup}",
            f"Wait, or cancel the start: cockpit stop {agent.name}",
        )
    refuse_if_opening(agent)
    if agent.alive:
        pid = agent.process.pid if agent.process else "?"
        raise NotNow(
            f"{agent.name} is already running (pid {pid})",
            "An agent can only run once at a time.",
            f"Open the agent's pane: cockpit attach {agent.name}",
        )


def pane_of(agent: Agent) -> PaneId:
    """Return the agent's pane; raise `NotNow` if there is none."""
    if agent.record.pane is None:
        raise NotNow(
            f"{agent.name} has no pane",
            "The agent's terminal was closed; the process is still running without a terminal."
            if agent.alive
            else "The agent was not started yet, or its window was closed.",
            f"Stop the agent, then start it again: cockpit stop {agent.name}"
            if agent.alive
            else f"Start the agent: cockpit start {agent.name}",
        )
    return agent.record.pane


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
            "The hooks before the session are running.",
            "Try again in a few seconds.",
        )


def refuse_if_moved(
    dependencies: Dependencies, session: SessionRecord, agent: AgentName | None = None
) -> None:
    """Raise `NotNow` for a session whose job continues on another machine.

    `agent`: the agent in which the session could be reopened; None for the session's own agent.
    A session that was reopened since, with `--force`, is not refused again.
    """
    if session.state != "handed_off":
        return
    for handoff in dependencies.store.handoffs(session.job):
        if handoff.old_session == session.id and handoff.outcome == Outcome.MOVED.value:
            again = f"cockpit start {agent or session.agent} --resume {session.id} --force"
            raise NotNow(
                f"The job of {session.agent} was {safe_line(handoff.why or 'moved away', 80)}",
                "The job continues in a session on the other machine; two sessions would "
                "work on the same job.",
                "Continue on the other machine, or move the job back: cockpit move. To "
                f"reopen the session anyway: {again}",
            )
