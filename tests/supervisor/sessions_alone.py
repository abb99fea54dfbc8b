"""The sessions of agents without a supervisor: no hooks, and nobody who reads transcripts."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cockpit.ports.records import SessionRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.daily_costs import DailyCosts
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.lifecycle import Ended, Sessions


async def _prompt(agent: Agent, session: SessionRecord, prompt: str | None) -> str | None:
    return prompt


def sessions_alone(
    dependencies: Dependencies,
    agents: Callable[[], Iterable[Agent]],
    ended: Ended = lambda *_: None,
    budget: Callable[[], float] = lambda: 0.0,
) -> Sessions:
    """`budget`: of a day, in US dollars; 0 for none."""
    return Sessions(
        dependencies,
        agents,
        ended,
        daily_costs=DailyCosts(dependencies, budget),
        prologue=_prompt,
        transcript_begins=lambda: None,
    )
