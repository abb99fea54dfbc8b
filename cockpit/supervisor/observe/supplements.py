"""Gives facts back to a session whose conversation was compacted or cleared.

They are laid ready when the CLI says that it is about to compact, kept fresh while it takes its
time, and looked for in the record. Where they did not arrive by the end of the next turn they are
laid for the next step instead, once; never twice. Without a compaction nothing is said.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from cockpit.core.facts import Facts
from cockpit.core.supplement import Occasion
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.handoff.documents import DocumentBuilder

FRESH = 5.0
"""Seconds for which facts that lie ready are not written again, however busy the agent is."""


@dataclass(slots=True)
class Laid:
    """Facts that lie ready for one session, or were given and are looked for."""

    token: str
    occasion: Occasion
    calls: int
    """Replies of the model when they were written."""
    written: float
    compactions: int
    """Of the session, when they were first laid: one more, and they are due."""
    beginnings: int
    """Times it had begun anew by then."""
    turns: int | None = None
    """Turns that had ended when the compaction was seen; None while it was not."""
    again: bool = False
    """They were laid for the next step: there is no third way."""


class Supplements:
    """What lies ready for each session, by its id."""

    def __init__(self, dependencies: Dependencies, document_builder: DocumentBuilder) -> None:
        self._dependencies = dependencies
        self._document_builder = document_builder
        self._laid: dict[str, Laid] = {}
        self._announced: dict[str, int] = {}
        """Compactions that each session's CLI had announced when facts were last laid."""

    async def consider(self, agent: Agent) -> None:
        """Lay, renew, look for or lay again, as it is due. Twice is as once."""
        if agent.session is None or not agent.alive or agent.settings.mode == "observe":
            return
        if agent.session_state.before is not None:
            before, agent.session_state.before = agent.session_state.before, None
            await self._lay(agent, "clear", at_start=False, facts=before)
        laid = self._laid.get(agent.session.id)
        if laid is not None and agent.has_received(laid.token):
            del self._laid[agent.session.id]
            self._tell_given(agent, laid)
            laid = None
        if agent.settings.strategy != "handoff" and not agent.session_state.catching_up:
            await self._around_compaction(agent, laid)

    async def _around_compaction(self, agent: Agent, laid: Laid | None) -> None:
        assert agent.session is not None
        announced = agent.session_state.conduct.compactions_announced
        if announced > self._announced.get(agent.session.id, 0):
            self._announced[agent.session.id] = announced
            await self._lay(agent, "compact", at_start=True)
        elif laid is None or laid.occasion != "compact":
            return
        elif self._was_missed(agent, laid):
            await self._lay_again(agent, laid)
        elif agent.compactions > laid.compactions:
            await self._follow_up(agent, laid)
        elif self._is_stale(agent, laid):
            await self._lay(agent, "compact", at_start=True, over=laid)

    async def _follow_up(self, agent: Agent, laid: Laid) -> None:
        """The compaction is over: a turn later the facts must have arrived."""
        if laid.turns is None:
            laid.turns = agent.turns
        elif agent.turns > laid.turns and not laid.again:
            self._dependencies.event_log.record(
                "facts.dropped",
                f"{agent.name} did not take the facts with its compaction; they go in with its "
                "next step",
                agent.name,
            )
            await self._lay_again(agent, laid)

    def _was_missed(self, agent: Agent, laid: Laid) -> bool:
        """The session went on before they lay ready: nobody can have taken them."""
        if laid.again or agent.session_state.conduct.begun_anew <= laid.beginnings:
            return False
        return agent.runtime.withdraw_supplement(agent.name)

    async def _lay_again(self, agent: Agent, laid: Laid) -> None:
        agent.runtime.withdraw_supplement(agent.name)
        laid.again = True
        await self._lay(agent, "compact", at_start=False, over=laid)

    def _is_stale(self, agent: Agent, laid: Laid) -> bool:
        """A compaction can be announced long before it comes; the agent works on meanwhile."""
        if agent.session_state.reading.meter.api_calls == laid.calls:
            return False
        return self._dependencies.clock.monotonic() - laid.written > FRESH

    async def _lay(
        self,
        agent: Agent,
        occasion: Occasion,
        *,
        at_start: bool,
        facts: Facts | None = None,
        over: Laid | None = None,
    ) -> None:
        assert agent.session is not None
        session = agent.session.id
        before, beginnings = agent.compactions, agent.session_state.conduct.begun_anew
        token = over.token if over else f"facts {secrets.token_hex(4)}"
        text = await self._document_builder.supplement(agent, token, occasion, facts)
        if agent.session is None or agent.session.id != session:
            return  # another session sits there by now
        if over is not None and at_start and agent.compactions > over.compactions:
            return  # it came while git was asked: what lies there is on its way
        if not agent.runtime.supplement(agent.name, text, at_start=at_start):
            return
        laid = over or Laid(
            token, occasion, calls=0, written=0.0, compactions=before, beginnings=beginnings
        )
        laid.calls, laid.written = (
            agent.session_state.reading.meter.api_calls,
            self._dependencies.clock.monotonic(),
        )
        self._laid[session] = laid

    def _tell_given(self, agent: Agent, laid: Laid) -> None:
        after = "its compaction" if laid.occasion == "compact" else "it was cleared"
        self._dependencies.event_log.record(
            "facts.given",
            f"{agent.name} was given the facts of its work back after {after}",
            agent.name,
            occasion=laid.occasion,
            token=laid.token,
        )
