"""Decide which state an agent is shown in. Pure.

If several states apply, the agent has the first of needs_you, handing_off, starting, working, done,
idle.
"""

from __future__ import annotations

from cockpit.core.handoff.events import Turn
from cockpit.core.handoff.states import Asked, Ended, Reviewing
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.predicates import awaits_first_prompt, is_job_done
from cockpit.wire.status import Needs, State


def state(agent: Agent, needs: Needs | None) -> State:
    """Return the agent's state; `needs` is the result of `need` for the agent."""
    if needs is not None:
        return "needs_you"
    # While the user has postponed a question, the agent has its normal state.
    if agent.handoff and not isinstance(agent.handoff.state, Asked | Reviewing | Ended):
        return "handing_off"
    if agent.start.setup:
        return "starting"
    if agent.record.session is None and agent.process is None:
        return "stopped"
    if not agent.alive and not is_ending(agent):
        return "exited" if agent.record.wanted else "stopped"
    return _state_of_running(agent)


def is_ending(agent: Agent) -> bool:
    """Return whether the process has ended by itself, and cockpit is still finding out how.

    Until the exit status is known, the row does not change.
    """
    return agent.exit is not None and agent.exit.pending and agent.record.wanted


def _state_of_running(agent: Agent) -> State:
    activity = agent.session_state.activity
    if not agent.has_readings:
        return "working"
    if activity.turn is Turn.WORKING:
        return "working"
    if activity.turn is Turn.IDLE:
        if awaits_first_prompt(agent) and not agent.session_state.replied:
            return "starting"
        return "done" if is_job_done(agent) else "idle"
    return (
        "starting"
        if agent.session_state.began_at is not None and not agent.session_state.replied
        else "unknown"
    )
