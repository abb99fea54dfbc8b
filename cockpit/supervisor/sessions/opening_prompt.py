"""The first prompt of a new job's first session."""

from __future__ import annotations

from cockpit.core.continuation import Succession, continuation, first_prompt
from cockpit.ports.worktrees import GitFacts
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.sessions.inheritance import Inheritance


def opening_prompt(
    agent: Agent, text: str, inheritance: Inheritance | None, facts: GitFacts
) -> str | None:
    """Return the first prompt; None if the user will type it."""
    if inheritance is None:
        return first_prompt(text, _marker(agent)) if text else None
    return continuation(
        Succession(
            document=inheritance.document,
            goal=text or None,
            first_step=inheritance.first_step,
            standing=inheritance.standing,
            has_git=facts.root is not None or not facts.status_known,
            branch=facts.branch,
            marker=_marker(agent),
        )
    )


def _marker(agent: Agent) -> str | None:
    """Return the completion marker; None for a runtime whose output is not read."""
    settings = agent.settings
    if not agent.has_readings:
        return None
    if settings.loop.enabled:
        return settings.loop.completion_marker
    return settings.handoff.completion_marker
