"""Record an event when an agent starts to need the user, or is done.

Each event is recorded once. A stored flag prevents a second event after a restart; the flag is
removed when the need ends. A dialog that opens and closes between two checks is missed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import get_args

from cockpit.core.errors import OsProblem
from cockpit.core.events import AgentNeedsYou, Need, RunCompleted
from cockpit.core.ids import SessionId
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.latches import DONE_REPORTED
from cockpit.supervisor.agents.needs import need
from cockpit.supervisor.agents.shown_state import state
from cockpit.supervisor.dependencies import Dependencies
from cockpit.wire.status import NeedKind, Needs

_log = logging.getLogger(__name__)

LOOK = 0.5
"""Seconds between two checks of all agents."""
NEEDS = "told.needs."


class Attention:
    """Records when an agent starts to need the user, or is done."""

    def __init__(self, dependencies: Dependencies, agents: Callable[[], Iterable[Agent]]) -> None:
        self._dependencies = dependencies
        self._agents = agents
        self._latched: dict[str, tuple[SessionId, str]] = {}
        """For each agent, its session and stored flag. Cached, so that only changes use the
        database."""

    async def run(self) -> None:
        """Check all agents, until cancelled."""
        while True:
            for agent in self._agents():
                try:
                    self.look(agent)
                    agent.troubles.succeed("needs")
                except OsProblem:
                    continue  # a disk error: checked again
                except Exception as bug:  # noqa: BLE001 - the other agents must be checked
                    self._show_bug(agent, bug)
            await asyncio.sleep(LOOK)

    def _show_bug(self, agent: Agent, bug: Exception) -> None:
        trouble = f"checking whether the agent needs you failed: {bug!r}; see the log"
        if agent.troubles.fail("needs", trouble):  # logging this twice a second would fill the log
            _log.error("checking whether %s needs the user failed", agent.name, exc_info=bug)

    def look(self, agent: Agent) -> None:
        """Record that this agent needs the user or is done, unless that is already recorded.
        Idempotent."""
        if agent.session is None:
            return
        wanted = need(agent, self._dependencies.clock.monotonic())
        if wanted is None and state(agent, None) == "unknown":
            return  # after a restart, keep the flags until the state is known
        latch = _latch(agent, wanted)
        current = (agent.session.id, latch)
        if self._latched.get(agent.name) == current:
            return
        self._remove_ended_flags(agent, latch)
        fresh = bool(latch) and self._dependencies.store.latch(agent.session.id, latch, self._now())
        self._latched[agent.name] = current
        if not fresh:
            return
        if wanted is not None:
            text = f"{agent.name} needs you ({wanted.kind}): {wanted.detail}"
            needs = Need(wanted.kind, wanted.detail)
            event = AgentNeedsYou(agent.session.id, needs)
            self._dependencies.event_log.record(event, text, agent.name)
        else:
            self.record_done(agent)

    def record_done(self, agent: Agent) -> None:
        """Record that the job is done. This event triggers hooks, pushes and pull requests."""
        assert agent.session is not None
        event = RunCompleted(agent.session.id)
        self._dependencies.event_log.record(event, f"{agent.name} is done with its job", agent.name)

    def _remove_ended_flags(self, agent: Agent, latch: str) -> None:
        """Remove the flags of needs that ended, so that the same needs can be recorded again."""
        assert agent.session is not None
        known = self._latched.get(agent.name)
        if known is None:
            # The first check: a need that an earlier supervisor recorded may have ended.
            stale = [DONE_REPORTED, *(f"{NEEDS}{kind}" for kind in get_args(NeedKind))]
            session = agent.session.id
        elif known[1] and known != (agent.session.id, latch):
            session, stale = known[0], [known[1]]
        else:
            return
        # When its process ends, a done session keeps its flag for `has_reported_done`.
        kept = {latch} if agent.alive and agent.record.wanted else {latch, DONE_REPORTED}
        self._dependencies.store.unlatch(session, *(flag for flag in stale if flag not in kept))

    def _now(self) -> float:
        return self._dependencies.clock.now().timestamp()


def _latch(agent: Agent, wanted: Needs | None) -> str:
    """Return the name of the flag for the current need or for a done job; else empty."""
    if wanted is not None:
        asked = wanted.kind in {"handoff", "review"} and agent.handoff_record is not None
        suffix = f".{agent.handoff_record.id}" if asked and agent.handoff_record else ""
        return f"{NEEDS}{wanted.kind}{suffix}"
    return DONE_REPORTED if state(agent, None) == "done" else ""
