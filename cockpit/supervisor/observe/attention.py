"""Notices that an agent has come to need its user, or to be done, and tells it once.

The row says so all the time; this turns it into an event. What stands is written down, so that a
restart alarms nobody again, and what is gone may be told anew. A dialog that opens and closes
between two looks was nobody's business.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import get_args

from cockpit.core.errors import Hindered
from cockpit.core.event_kinds import EventKind
from cockpit.core.ids import SessionId
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.view.needs import need
from cockpit.supervisor.view.rows import state
from cockpit.wire.status import NeedKind, Needs

LOOK = 0.5
"""Seconds between two looks; each costs microseconds an agent."""
DONE = "told.done"
NEEDS = "told.needs."


class Attention:
    """Looks at all rows, twice a second."""

    def __init__(self, dependencies: Dependencies, agents: Callable[[], Iterable[Agent]]) -> None:
        self._dependencies = dependencies
        self._agents = agents
        self._told: dict[str, tuple[SessionId, str]] = {}
        """Agent -> the latch that is set for it, so that the disk is asked only of changes."""

    async def run(self) -> None:
        """Look for ever."""
        while True:
            for agent in self._agents():
                with suppress(Hindered):  # a full disk: looked at again
                    self.look(agent)
            await asyncio.sleep(LOOK)

    def look(self, agent: Agent) -> None:
        """Tell what is new about this agent. Twice is as once."""
        if agent.session is None:
            return
        wanted = need(agent, self._dependencies.clock.monotonic())
        if wanted is None and state(agent, None) == "unknown":
            return  # a supervisor that came back: what was told is not over before it is known
        latch = _latch(agent, wanted)
        stands = (agent.session.id, latch)
        if self._told.get(agent.name) == stands:
            return
        self._forget(agent, latch)
        fresh = bool(latch) and self._dependencies.store.latch(agent.session.id, latch, self._now())
        self._told[agent.name] = stands
        if not fresh:
            return
        if wanted is not None:
            words = f"{agent.name} needs you ({wanted.kind}): {wanted.detail}"
            told = {"kind": wanted.kind, "detail": wanted.detail}
            self._tell("agent.needs_you", words, agent, told)
        else:
            self.tell_done(agent)

    def tell_done(self, agent: Agent) -> None:
        """Tell that the job is done; hooks, pushes and pull requests follow from it."""
        self._tell("run.completed", f"{agent.name} is done with its job", agent, {})

    def has_told_of_end(self, agent: Agent) -> bool:
        """Whether this session was told of as done; its process may end long after that."""
        if agent.session is None:
            return False
        return self._dependencies.store.latched(agent.session.id, DONE) is not None

    def _tell(self, kind: EventKind, words: str, agent: Agent, data: dict[str, str]) -> None:
        assert agent.session is not None
        self._dependencies.event_log.record(
            kind, words, agent.name, session=agent.session.id, needs=data or None
        )

    def _forget(self, agent: Agent, latch: str) -> None:
        """What stood before and does not now may be told again."""
        assert agent.session is not None
        known = self._told.get(agent.name)
        if known is None:
            # The first look: what an earlier supervisor told may be over by now.
            stale = [DONE, *(f"{NEEDS}{kind}" for kind in get_args(NeedKind))]
            session = agent.session.id
        elif known[1] and known != (agent.session.id, latch):
            session, stale = known[0], [known[1]]
        else:
            return
        # A session that was done stays so when its process ends: `has_told_of_end` is asked then.
        kept = {latch} if agent.alive and agent.record.wanted else {latch, DONE}
        self._dependencies.store.unlatch(session, *(one for one in stale if one not in kept))

    def _now(self) -> float:
        return self._dependencies.clock.now().timestamp()


def _latch(agent: Agent, wanted: Needs | None) -> str:
    """What stands, as the name of a latch; empty when nothing does."""
    if wanted is not None:
        asked = wanted.kind in {"handoff", "review"} and agent.handoff_record is not None
        about = f".{agent.handoff_record.id}" if asked and agent.handoff_record else ""
        return f"{NEEDS}{wanted.kind}{about}"
    return DONE if state(agent, None) == "done" else ""
