"""In which order agents stand inside a group. The groups keep theirs: who needs the pilot is first.

Only `need` lets a row stay where it is until its state changes; the others move rows with their
numbers, because that is what they were asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from cockpit.wire.status import AgentStatus

ORDERS: dict[str, str] = {
    "need": "as they came",
    "context": "fullest first",
    "name": "by name",
    "age": "longest silent first",
    "cost": "dearest first",
}
"""By what, and what that means in words; in the order in which a key goes through them."""

COLUMN = {"context": "bar", "name": "name", "age": "age", "cost": "cost"}
"""The column that carries the mark of the order."""


def next_order(order: str) -> str:
    """The order after this one; the first after the last, and after one that nobody knows."""
    names = list(ORDERS)
    return names[(names.index(order) + 1) % len(names)] if order in names else names[0]


def ordered(agents: Iterable[AgentStatus], order: str) -> list[AgentStatus]:
    """Agents in this order; equal ones, and those without a number, as they came."""
    key = _KEYS.get(order)
    return list(agents) if key is None else sorted(agents, key=key)


def _fullness(agent: AgentStatus) -> float:
    return -(agent.context.used if agent.context.used is not None else -1.0)


def _last_heard(agent: AgentStatus) -> str:
    return agent.last_activity_at or "~"  # after every date


def _cost(agent: AgentStatus) -> float:
    cost = agent.cost_usd if agent.chain_cost_usd is None else agent.chain_cost_usd
    return -(cost if cost is not None else -1.0)


_KEYS: dict[str, Callable[[AgentStatus], Any]] = {
    "context": _fullness,
    "name": lambda agent: agent.name,
    "age": _last_heard,
    "cost": _cost,
}
