"""The cost that the screen shows for an agent."""

from __future__ import annotations

from cockpit.wire.status import AgentStatus


def shown_cost(agent: AgentStatus) -> float | None:
    """Return the cost of the job's sessions in US dollars, else of the current one; None if it is
    unknown."""
    return agent.cost_usd if agent.chain_cost_usd is None else agent.chain_cost_usd
