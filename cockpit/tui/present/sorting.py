"""Sort orders of the agents inside a group.

With `need`, an agent's row moves only when the agent's state changes. With any other order, the row
also moves when the compared value changes, such as the cost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cockpit.tui.present.cost import shown_cost
from cockpit.wire.status import AgentStatus

ORDERS: dict[str, str] = {
    "need": "original order",
    "context": "fullest first",
    "name": "by name",
    "age": "longest idle first",
    "cost": "most expensive first",
}
"""The sort orders with their descriptions, in the order in which a key cycles through them."""


def next_order(order: str) -> str:
    """Return the order after `order`, cyclically; the first one for an unknown order."""
    names = list(ORDERS)
    return names[(names.index(order) + 1) % len(names)] if order in names else names[0]


def sort_key(agent: AgentStatus, order: str) -> Any:
    """Return the sort key of an agent for a sort order; None for `need`, the supervisor's order."""
    key = _KEYS.get(order)
    return None if key is None else key(agent)


def _fullness(agent: AgentStatus) -> float:
    return -(agent.context.used if agent.context.used is not None else -1.0)


def _last_heard(agent: AgentStatus) -> str:
    return agent.last_activity_at or "~"  # sorts after every date


def _cost(agent: AgentStatus) -> float:
    cost = shown_cost(agent)
    return -(cost if cost is not None else -1.0)


_KEYS: dict[str, Callable[[AgentStatus], Any]] = {
    "context": _fullness,
    "name": lambda agent: agent.name,
    "age": _last_heard,
    "cost": _cost,
}
