"""Why something cannot be done now: a sentence with the next step, or None when it can.

Judged by what the screen knows. The supervisor judges again, by what it knows better.
"""

from __future__ import annotations

from collections.abc import Callable

from cockpit.tui.model import Model
from cockpit.wire.status import AgentStatus

WhyNot = Callable[[Model], str | None]
"""Answers with the reason, a sentence for the pilot; None where nothing stands against it."""


def never(_model: Model) -> str | None:
    return None


def needs_agent(model: Model) -> str | None:
    if model.agent is None:
        return "No agent is selected."
    return None


def needs_supervisor(model: Model) -> str | None:
    """That of the selected agent's machine."""
    part = model.part
    if part.connection.live:
        return None
    if model.is_joined and part.is_far:
        return f"{part.host} does not answer: {part.connection.why or 'it is being asked'}"
    return "No supervisor answers. Run: cockpit up"


def needs_any_supervisor(model: Model) -> str | None:
    return None if model.any_live else "No supervisor answers. Run: cockpit up"


def needs_running(model: Model) -> str | None:
    agent = model.agent
    if agent is None:
        return needs_agent(model)
    if agent.pane is None:
        return f"{agent.name} has no pane: it is {agent.state}. Press n to start it."
    return None


def has_ended(agent: AgentStatus) -> bool:
    """Nothing runs in its pane any more, though its last words may still stand there."""
    return agent.pid is None and agent.handoff is None


def cannot_talk(model: Model) -> str | None:
    agent = model.agent
    if (reason := needs_supervisor(model) or needs_running(model)) or agent is None:
        return reason
    if has_ended(agent):
        return f"{agent.name} has ended. Press n to start it."
    return None


def cannot_hand_off(model: Model) -> str | None:
    agent = model.agent
    if (reason := cannot_talk(model)) or agent is None:
        return reason
    if agent.handoff:
        return f"{agent.name} is being handed off already: {agent.handoff.phase}."
    return None


def cannot_answer(model: Model) -> str | None:
    agent = model.agent
    if (reason := needs_supervisor(model) or needs_agent(model)) or agent is None:
        return reason
    if agent.needs is None:
        return f"{agent.name} asks nothing of you."
    if agent.needs.kind not in {"handoff", "review", "breaker"}:
        return f"{agent.name} asks in its own pane: press enter to go there."
    return None


def cannot_approve_straight(model: Model) -> str | None:
    agent = model.agent
    if (reason := cannot_answer(model)) or agent is None:
        return reason
    if agent.needs and agent.needs.kind != "handoff":
        return "The document is there already: press a to approve it."
    return None


def cannot_read(model: Model) -> str | None:
    agent = model.agent
    if (reason := needs_supervisor(model) or needs_agent(model)) or agent is None:
        return reason
    if agent.handoff is None:
        return f"{agent.name} is not being handed off, so there is no document."
    if agent.handoff.document is None:
        return f"The document is not there yet: {agent.handoff.phase}."
    return None


def cannot_edit(model: Model) -> str | None:
    agent = model.agent
    if (reason := cannot_read(model)) or agent is None:
        return reason
    if agent.handoff and agent.handoff.phase != "review":
        return "Only a document that waits for review can be edited."
    if model.part.is_far:
        return f"The document is a file on {model.part.host}: edit it there."
    return None


def cannot_undo(model: Model) -> str | None:
    agent = model.agent
    if (reason := needs_supervisor(model) or needs_agent(model)) or agent is None:
        return reason
    if agent.previous_session_id is None:
        return f"{agent.name} has no previous session to go back to."
    return None


def is_gone(model: Model) -> str | None:
    return needs_supervisor(model) or needs_agent(model)


def nobody_needs(model: Model) -> str | None:
    if any(agent.state == "needs_you" for agent in model.agents.values()):
        return None
    return "Nobody needs you."


def alone(model: Model) -> str | None:
    if len(waiting_reviews(model)) < 2:
        return "No other question about a handoff waits."
    return None


def waiting_reviews(model: Model) -> list[str]:
    """The agents whose handoff waits for an answer, in the supervisor's order."""
    asks = {"handoff", "review", "breaker"}
    return [
        name for name, agent in model.agents.items() if agent.needs and agent.needs.kind in asks
    ]
