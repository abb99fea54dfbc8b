"""Perform a verb under the lock of its agent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from cockpit.core.errors import NotNow
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.agents.locks import PATIENCE, AgentLocks
from cockpit.supervisor.lifetime import Lifetime
from cockpit.supervisor.sessions.refusals import refuse_if_opening
from cockpit.wire.verbs import Done

Perform = Callable[[Any], Awaitable[Done]]
"""Performs one verb of `wire.verbs`. Returns `Done` or raises `CockpitError`."""


class UnderAgentLock:
    """Makes verbs that change the same agent run one after the other."""

    def __init__(self, fleet: Fleet, locks: AgentLocks, life: Lifetime) -> None:
        self._fleet = fleet
        self._locks = locks
        self._life = life

    def __call__(self, doing: str, perform: Perform, *, same_session: bool = False) -> Perform:
        """Wrap a verb so that it holds its agent's lock.

        `doing`: see `AgentLocks.hold`. With `same_session`, raises `NotNow` if another session
        began while the request waited. Also raises `NotNow` if the lock is not free in time. Raises
        `NotNow` at once while the hooks that precede a session are running, because one of them may
        be the caller.
        """

        async def locked(asked: Any) -> Done:
            agent = self._fleet.find(asked.name)
            if agent is not None and agent.start.hooks_run and not agent.start.setup:
                refuse_if_opening(agent)
            session = agent.record.session if agent is not None else None
            async with self._locks.hold(asked.name, doing, patience=PATIENCE):
                if same_session and agent is not None and agent.record.session != session:
                    raise NotNow(
                        f"{asked.name} began another session in the meantime",
                        "Your request was for its previous session.",
                        f"Check the agent, then try again: cockpit status {asked.name}",
                    )
                if self._life.ending:
                    raise NotNow(
                        "The supervisor is shutting down",
                        "You stopped it with cockpit down.",
                        hint="To start it again: cockpit up",
                    )
                return await perform(asked)

        return locked
